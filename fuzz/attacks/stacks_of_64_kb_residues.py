"""Threads with stacks of 64 KB transform with residues: they ended by SIGSEGV. seconds: 300"""

import threading

import numpy as np

import ozfft


def transform():
    for n in (16, 1000, 1009, 4096):
        ozfft.fft(np.ones(n), engine="residues")
        ozfft.rfft(np.ones(n, np.float32), engine="residues")


threading.stack_size(65536)
for _ in range(3):
    thread = threading.Thread(target=transform)
    thread.start()
    thread.join()
