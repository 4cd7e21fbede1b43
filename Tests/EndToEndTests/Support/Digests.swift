import Crypto
import Domain
import Wire

/// Lower-case hex of the SHA-256 of a text: what an app gives to Apple as its nonce.
func sha256Hex(_ text: String) -> String { hexText(sha256(Array(text.utf8))) }

/// The same digest in base64 with padding.
func sha256Base64(_ text: String) -> String { base64Text(sha256(Array(text.utf8))) }

/// The same digest in base64url without padding.
func sha256Base64URL(_ text: String) -> String { base64URLText(sha256(Array(text.utf8))) }
