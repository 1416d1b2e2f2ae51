"""Where programs that others wrote in DDlog are: clones beside this one, or in the folder TIDELOG_PEERS.

`differential-datalog` is a clone of vmware/differential-datalog, `ovn` one of ovn-org/ovn at a commit where its
programs in DDlog were kept up with its schema, as c85835fc8. Nothing of them is in this repository; tests that need
them are skipped where they are not.
"""

import os
from pathlib import Path

PEERS = Path(os.environ.get("TIDELOG_PEERS", Path(__file__).parents[3]))
DDLOG = PEERS / "differential-datalog"
OVN = PEERS / "ovn"
