"""A program as a user would submit it to a cluster: `job` is it, `cluster` starts one of a master and two workers."""
