from tidelog.base.extern import Externs

externs = Externs()


@externs.register("shuot")
def shout(s: str) -> str:
    return s.upper()
