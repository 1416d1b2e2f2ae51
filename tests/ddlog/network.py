"""A random network in OVN's tables: switches and their ports, routers, rules, addresses, load balancers, chassis.

Rows are plain values by table, with everything that is not said empty. What the program computes for tables of the
southbound database, and for columns of the northbound one, can be written back, as OVN's daemon does.
"""

from random import Random
from typing import Any

import tidelog
from tidelog import Database
from tidelog.base import types as t

NORTH, SOUTH = "OVN_Northbound::", "OVN_Southbound::"
WRITTEN_BACK = (
    "Datapath_Binding",
    "Port_Binding",
    "Multicast_Group",
    "Address_Set",
    "Port_Group",
    "Meter",
    "SB_Global",
)


def empty(type: t.Type) -> Any:
    """Return the plain value that a column has where nothing is said."""
    match type:
        case t.Bool():
            return False
        case t.Bit():
            return 0
        case t.Double():
            return 0.0
        case t.Named("std::Option"):
            return None
        case t.Named(t.SET | t.MAP):
            return []
        case t.Named(t.INTERN, (inner,)):
            return empty(inner)
        case _:
            return ""


class Network:
    """Tables, and what is to be done to a database."""

    def __init__(self, database: Database, seed: int = 0) -> None:
        self.random = Random(seed)
        self.tables: dict[str, dict[int, dict[str, Any]]] = {}
        self.empty = {
            view.name: {field.name: empty(field.type) for field in view.fields}
            for view in database.relations()
            if view.role == "input"
        }
        self.changed: set[tuple[str, int]] = set()
        self.switches: dict[int, list[int]] = {}
        self.routers: list[int] = []
        self.made = 0

    def put(self, table: str, **given: Any) -> int:
        """Set columns of a row, which is made if no `_uuid` is given; return its identifier."""
        if "_uuid" in given:
            identifier = int(given.pop("_uuid"))
        else:
            self.made += 1
            identifier = self.made << 64 | self.random.getrandbits(64)
        rows = self.tables.setdefault(table, {})
        row = rows.setdefault(identifier, {**self.empty[table], "_uuid": identifier})
        rows[identifier] = {**row, **given}
        self.changed.add((table, identifier))
        return identifier

    def drop(self, table: str, identifier: int) -> None:
        """Delete a row."""
        del self.tables[table][identifier]
        self.changed.add((table, identifier))

    def row(self, table: str, identifier: int) -> dict[str, Any]:
        """Return a row."""
        return self.tables[table][identifier]

    def write(self, transaction: tidelog.Transaction) -> None:
        """Give a transaction what has changed."""
        for table, identifier in sorted(self.changed):
            row = self.tables[table].get(identifier)
            if row is None:
                transaction.delete_keys(table, [identifier])
            else:
                transaction.upsert(table, [row])
        self.changed.clear()

    # --- what there is at first --------------------------------------------------------------------------------------

    def begin(self, switches: int, ports: int) -> None:
        """Make switches with ports, and a router between the first two."""
        self.put(NORTH + "NB_Global", name="", options=[("northd_probe_interval", "5000")])
        self.put(SOUTH + "SB_Global")
        self.put(SOUTH + "Chassis", name="host1", hostname="one")
        for _ in range(switches):
            self.switch()
        for number in range(switches * ports):
            self.port(list(self.switches)[number % switches])
        self.router(list(self.switches)[:2])

    def switch(self) -> None:
        number = len(self.switches) + 1
        other = [("subnet", f"10.{number}.0.0/16")] if number % 2 else []
        identifier = self.put(NORTH + "Logical_Switch", name=f"switch{number}", other_config=other)
        self.switches[identifier] = []

    def port(self, switch: int, **given: Any) -> int:
        """Add a port to a switch."""
        number = self.made + 1
        mac = ":".join(f"{number >> shift & 255:02x}" for shift in (24, 16, 8, 0))
        address = self.random.choice(
            [f"0a:00:{mac} 10.9.{number >> 8 & 255}.{number & 255}", f"0a:00:{mac}", "dynamic"]
        )
        security = [address] if address != "dynamic" and self.random.random() < 0.4 else []
        columns = {"addresses": [address], "port_security": security, "up": True, **given}
        identifier = self.put(NORTH + "Logical_Switch_Port", name=f"port{number}", **columns)
        self.ports(switch, [*self.switches[switch], identifier])
        return identifier

    def ports(self, switch: int, ports: list[int]) -> None:
        self.switches[switch] = ports
        self.put(NORTH + "Logical_Switch", _uuid=switch, ports=ports)

    def router(self, switches: list[int]) -> None:
        """Connect switches by a router."""
        number, ends = self.made + 1, []
        for each in switches:
            end = self.made + 1
            network, mac = f"10.{end & 255}.{number & 255}.1/24", f"0b:00:00:00:{end >> 8 & 255:02x}:{end & 255:02x}"
            options: list[Any] = []
            ends.append(
                self.put(NORTH + "Logical_Router_Port", name=f"end{end}", mac=mac, networks=[network], options=options)
            )
            attached = [("router-port", f"end{end}")]
            self.port(each, __type="router", addresses=["router"], port_security=[], options=attached)
        self.routers.append(self.put(NORTH + "Logical_Router", name=f"router{number}", ports=ends))

    # --- what happens ------------------------------------------------------------------------------------------------

    def act(self) -> None:
        """Do something, at random."""
        actions = (
            self._add_port, self._add_port, self._remove_port, self._change_port, self._add_rule, self._remove_rule,
            self._route, self._translate, self._balance, self._group, self._bind, self._add_switch, self._configure,
            self._special_port, self._lease, self._limit, self._name, self._gateway, self._policy, self._tag,
        )  # fmt: skip
        self.random.choice(actions)()

    def _some_switch(self) -> int:
        return self.random.choice(list(self.switches))

    def _some_port(self) -> tuple[int, int] | None:
        ports = [(switch, port) for switch, all_ports in self.switches.items() for port in all_ports]
        plain = [(s, p) for s, p in ports if not self.row(NORTH + "Logical_Switch_Port", p)["__type"]]
        return self.random.choice(plain) if plain else None

    def _add_port(self) -> None:
        self.port(self._some_switch())

    def _remove_port(self) -> None:
        found = self._some_port()
        if found:
            switch, port = found
            self.ports(switch, [each for each in self.switches[switch] if each != port])
            self.drop(NORTH + "Logical_Switch_Port", port)

    def _change_port(self) -> None:
        found = self._some_port()
        if found:
            changes: tuple[tuple[str, Any], ...] = ("enabled", False), ("up", None), ("addresses", ["unknown"])
            self.put(NORTH + "Logical_Switch_Port", _uuid=found[1], **dict([self.random.choice(changes)]))

    def _listed(self, owner: str, column: str, identifier: int, *more: int) -> None:
        kept = [each for each in self.row(owner, identifier)[column] if each in self.tables.get(ROWS[column], {})]
        self.put(owner, _uuid=identifier, **{column: [*kept, *more]})

    def _add_rule(self) -> None:
        direction, action = (
            self.random.choice(["from-lport", "to-lport"]),
            self.random.choice(["allow", "drop", "allow-related"]),
        )
        match, priority = f"ip4.dst == 10.0.0.{self.random.randrange(9)}", self.random.randrange(1000, 1005)
        made = self.put(NORTH + "ACL", direction=direction, priority=priority, __match=match, action=action)
        self._listed(NORTH + "Logical_Switch", "acls", self._some_switch(), made)

    def _remove_rule(self) -> None:
        switch = self._some_switch()
        rules = self.row(NORTH + "Logical_Switch", switch)["acls"]
        if rules:
            self.drop(NORTH + "ACL", rules[0])
            self._listed(NORTH + "Logical_Switch", "acls", switch)

    def _route(self) -> None:
        prefix, hop = f"192.168.{self.random.randrange(4)}.0/24", f"10.{self.random.randrange(9)}.0.2"
        made = self.put(NORTH + "Logical_Router_Static_Route", ip_prefix=prefix, nexthop=hop)
        self._listed(NORTH + "Logical_Router", "static_routes", self.random.choice(self.routers), made)

    def _translate(self) -> None:
        kind = self.random.choice(["snat", "dnat", "dnat_and_snat"])
        outside, inside = f"172.16.0.{self.random.randrange(5)}", f"10.9.0.{self.random.randrange(5)}"
        made = self.put(NORTH + "NAT", __type=kind, external_ip=outside, logical_ip=inside)
        self._listed(NORTH + "Logical_Router", "nat", self.random.choice(self.routers), made)

    def _balance(self) -> None:
        vips = [(f"10.0.1.{self.random.randrange(5)}:80", "10.0.2.2:8080,10.0.2.3:8080")]
        made = self.put(NORTH + "Load_Balancer", name=f"balancer{self.made}", vips=vips, protocol="tcp")
        self._listed(NORTH + "Logical_Switch", "load_balancer", self._some_switch(), made)
        if self.random.random() < 0.5:
            self._listed(NORTH + "Logical_Router", "load_balancer", self.random.choice(self.routers), made)

    def _group(self) -> None:
        found = self._some_port()
        self.put(NORTH + "Port_Group", name=f"group{self.made}", ports=[found[1]] if found else [])

    def _bind(self) -> None:
        bindings = self.tables.get(SOUTH + "Port_Binding", {})
        if bindings:
            chassis = next(iter(self.tables[SOUTH + "Chassis"]))
            binding = self.random.choice(sorted(bindings))
            self.put(SOUTH + "Port_Binding", _uuid=binding, chassis=self.random.choice([chassis, None]))

    def _special_port(self) -> None:
        kind = self.random.choice(["localnet", "localport", "virtual", "external", "vtep"])
        six = f"0c:00:00:00:00:{self.made & 255:02x} fd00::{self.made:x}"
        self.port(self._some_switch(), __type=kind, addresses=["unknown"] if kind == "localnet" else [six])

    def _lease(self) -> None:
        found = self._some_port()
        if found:
            options = [("server_id", "10.0.0.1"), ("server_mac", "0a:00:00:00:00:01"), ("lease_time", "3600")]
            made = self.put(NORTH + "DHCP_Options", cidr="10.9.0.0/16", options=[*options, ("router", "10.0.0.1")])
            self.put(NORTH + "Logical_Switch_Port", _uuid=found[1], dhcpv4_options=made, enabled=None)

    def _limit(self) -> None:
        band = self.put(NORTH + "Meter_Band", action="drop", rate=self.random.randrange(9))
        self.put(NORTH + "Meter", name=f"meter{self.made}", unit="pktps", bands=[band])
        made = self.put(NORTH + "QoS", priority=1001, direction="from-lport", __match="ip", action=[("dscp", 48)])
        self._listed(NORTH + "Logical_Switch", "qos_rules", self._some_switch(), made)

    def _name(self) -> None:
        made = self.put(NORTH + "DNS", records=[(f"host{self.random.randrange(3)}", "10.0.0.4")])
        self._listed(NORTH + "Logical_Switch", "dns_records", self._some_switch(), made)

    def _gateway(self) -> None:
        name = self.random.choice([row["name"] for row in self.tables[SOUTH + "Chassis"].values()])
        port = self.random.choice(list(self.tables[NORTH + "Logical_Router_Port"]))
        made = self.put(NORTH + "Gateway_Chassis", name=f"gateway{self.made}", chassis_name=name, priority=self.made)
        self._listed(NORTH + "Logical_Router_Port", "gateway_chassis", port, made)

    def _policy(self) -> None:
        match, hop = f"ip4.src == 10.9.0.{self.random.randrange(4)}", f"10.{self.random.randrange(4)}.0.3"
        action = self.random.choice(["reroute", "drop", "allow"])
        made = self.put(NORTH + "Logical_Router_Policy", priority=10, __match=match, action=action, nexthop=hop)
        self._listed(NORTH + "Logical_Router", "policies", self.random.choice(self.routers), made)

    def _tag(self) -> None:
        found = self._some_port()
        if found:
            parent = self.row(NORTH + "Logical_Switch_Port", found[1])["name"]
            self.port(found[0], parent_name=parent, tag_request=self.random.randrange(3))

    def _add_switch(self) -> None:
        self.switch()

    def _configure(self) -> None:
        options = [("northd_probe_interval", str(self.random.randrange(1000, 9000))), ("mac_prefix", "aa:bb:cc")]
        for identifier in self.tables[NORTH + "NB_Global"]:
            self.put(NORTH + "NB_Global", _uuid=identifier, options=options[: self.random.randrange(3)])

    # --- what the program says ---------------------------------------------------------------------------------------

    def write_back(self, database: Database) -> None:
        """Let tables be what the program says that they should be."""
        for table in WRITTEN_BACK:
            for prefix in ("DeltaPlus", "Update"):
                view = database.relation(f"{SOUTH}{prefix}_{table}")
                for row in view.rows():
                    self.put(SOUTH + table, **dict(zip(view.columns, row, strict=True)))
            for (identifier,) in database.relation(f"{SOUTH}DeltaMinus_{table}").rows():
                self.drop(SOUTH + table, identifier)


ROWS = {
    "acls": NORTH + "ACL",
    "static_routes": NORTH + "Logical_Router_Static_Route",
    "nat": NORTH + "NAT",
    "load_balancer": NORTH + "Load_Balancer",
    "qos_rules": NORTH + "QoS",
    "dns_records": NORTH + "DNS",
    "gateway_chassis": NORTH + "Gateway_Chassis",
    "policies": NORTH + "Logical_Router_Policy",
}
"""Where the rows are that a column names."""
