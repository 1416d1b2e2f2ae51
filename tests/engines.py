"""The engines that tests can start at no cost; Spark's tests share a session and stand in tests/run/spark."""

import tidelog

IN_PROCESS = tuple(name for name in tidelog.engines() if name != "spark")
