"""Threads with stacks of 64 KB transform with residues: they ended by SIGSEGV. seconds: 300"""

import threading

import numpy as np

import ozfft


def transform():
    # The first calls of a thread run on others.
    for _ in range(20):
        ozfft.fft(np.ones(16), engine="residues")
    for n in (16, 1000, 1009, 4096):
        ozfft.fft(np.ones(n), engine="residues")
        ozfft.rfft(np.ones(n, np.float32), engine="residues")


threading.stack_size(65536)
thread = threading.Thread(target=transform)
thread.start()
thread.join()
