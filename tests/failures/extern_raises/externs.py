"""A price list without lamps."""

from tidelog.base.extern import Externs

externs = Externs()
PRICES = {"tea": 350}


@externs.register("price", "function(string): bit<32>")
def price(item: str) -> int:
    """Return the price of an item."""
    return PRICES[item]
