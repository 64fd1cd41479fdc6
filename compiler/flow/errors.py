"""What goes wrong when pages are followed."""


class FlowError(Exception):
    """A stage combines pages that do not belong together.

    ``rule`` is the rule of the program representation that it breaks, ``subject`` the stage,
    tensor or buffer that breaks it.
    """

    def __init__(self, rule: str, subject: str, message: str):
        self.rule, self.subject = rule, subject
        super().__init__(message)

    def again(self) -> "FlowError":
        """The same error without the story of where it was raised."""
        return FlowError(self.rule, self.subject, str(self))
