"""The suites of others are plugins here, not tests."""

collect_ignore = ["numpy_suite.py", "scipy_suite.py", "counting.py", "table.py", "typed_sample.py", "mpi_gpu.py"]
