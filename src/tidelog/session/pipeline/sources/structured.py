"""Types that databases have as well, although they are structures in the language: times, and what may be null."""

DATE, MOMENT, OPTION = STRUCTURED = ("time::Date", "time::DateTime", "std::Option")
