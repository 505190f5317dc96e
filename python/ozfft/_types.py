"""Types of arguments, for the stubs and for programs that annotate theirs."""

from typing import Literal, Optional, Union

Norm = Optional[Literal["backward", "ortho", "forward"]]
Accuracy = Union[str, float, None]
Engine = Optional[str]
Mode = Literal["full", "same", "valid"]
Route = Literal["direct", "ntt", "digits", "pairs"]
RealType = Literal[1, 2, 3, 4]
