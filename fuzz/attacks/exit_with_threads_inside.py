"""The interpreter ends while daemon threads transform: it ends as one without threads does. It died by SIGSEGV where the extension had
an unwinder of its own. seconds: 300"""

import subprocess
import sys

PROGRAM = """
import sys, threading, time
import numpy as np
import ozfft

x = np.random.default_rng(1).standard_normal(1 << 14)
workers = int(sys.argv[1])
started = threading.Event()

def work():
    while True:
        ozfft.fft(x, workers=workers)
        started.set()

for _ in range(4):
    threading.Thread(target=work, daemon=True).start()
started.wait()
time.sleep(0.01 * int(sys.argv[2]))
"""

failed = False
for workers in (1, 2):
    for delay in range(8):
        done = subprocess.run([sys.executable, "-c", PROGRAM, str(workers), str(delay)], timeout=60, capture_output=True, text=True)
        if done.returncode or done.stderr:
            failed = True
            print(f"{workers} workers, {delay}: exit status {done.returncode}: {done.stderr[-300:]}")
sys.exit(failed)
