class ActivityCounters:
    pass
