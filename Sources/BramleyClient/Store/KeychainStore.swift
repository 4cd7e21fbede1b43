#if canImport(Security)
  public import Foundation
  internal import Security

  /// Keeps the session in the Keychain: for this device only, readable once it has been unlocked after a start, so that
  /// work in the background has it. It is in no backup and on no other device.
  ///
  /// Items outlive the app: whoever deletes and installs it again is still signed in. An app that does not want that signs
  /// out at its first start. On macOS the app has to be signed with an application identifier or the entitlement for
  /// Keychain sharing; without one every call fails with `errSecMissingEntitlement` (-34018), which the kit reports as
  /// ``AuthErrorCode/keychainError``.
  public final class KeychainStore: SessionStore {
    private struct Item {
      let value: Data
      /// Chosen by chance at each write, so that nobody overwrites what they have not read.
      let version: Data?
    }

    private let name: String
    private let accessGroup: String?
    private let lock = NSLock()

    /// - Parameters:
    ///   - name: Of the item, such as the host of the service.
    ///   - accessGroup: The Keychain access group that an app and its extensions share; nil for the app's own.
    public init(name: String, accessGroup: String? = nil) {
      self.name = name
      self.accessGroup = accessGroup
    }

    /// Reads and changes the item. Other processes are not kept out, for a lock that is held while an app is suspended ends
    /// it; what one of them has written in the meantime is read, and changed, once more.
    public func update<R>(_ body: (inout Data?) throws -> R) throws -> R {
      lock.lock()
      defer { lock.unlock() }
      for _ in 0..<32 {
        let before = try item()
        var value = before?.value
        let result = try body(&value)
        if try value == before?.value || write(value, inPlaceOf: before) { return result }
      }
      throw NSError(domain: NSOSStatusErrorDomain, code: Int(errSecDuplicateItem))
    }

    /// The item's value.
    public func read() throws -> Data? { try item()?.value }

    /// An app that lacks the right to its items, by how it was signed, gets it from no unlocking.
    public func mayPass(_ fault: any Error) -> Bool {
      let fault = fault as NSError
      return fault.domain != NSOSStatusErrorDomain || fault.code != Int(errSecMissingEntitlement)
    }

    private var query: [CFString: Any] {
      var query: [CFString: Any] = [
        kSecClass: kSecClassGenericPassword, kSecAttrService: "Bramley", kSecAttrAccount: name,
        kSecUseDataProtectionKeychain: true,
      ]
      query[kSecAttrAccessGroup] = accessGroup
      return query
    }

    private func item() throws -> Item? {
      var found: CFTypeRef?
      let wanted: [CFString: Any] = [
        kSecReturnData: true, kSecReturnAttributes: true, kSecMatchLimit: kSecMatchLimitOne,
      ]
      let status = unsafe SecItemCopyMatching(query.merging(wanted) { $1 } as CFDictionary, &found)
      // Among others errSecInteractionNotAllowed, before the first unlock: that nobody can read is not that nobody is there.
      guard status != errSecItemNotFound else { return nil }
      guard status == errSecSuccess, let members = found as? [String: Any] else { throw fault(status) }
      return Item(
        value: members[kSecValueData as String] as? Data ?? Data(),
        version: members[kSecAttrGeneric as String] as? Data)
    }

    /// - Returns: Whether it was done; not when another process has changed the item in the meantime.
    private func write(_ value: Data?, inPlaceOf before: Item?) throws -> Bool {
      var present = query
      present[kSecAttrGeneric] = before?.version
      let content: [CFString: Any]? = value.map {
        [
          kSecValueData: $0, kSecAttrGeneric: Data(UUID().uuidString.utf8),
          kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
        ]
      }
      let status: OSStatus
      if let content, before != nil {
        status = SecItemUpdate(present as CFDictionary, content as CFDictionary)
      } else if let content {
        status = SecItemAdd(query.merging(content) { $1 } as CFDictionary, nil)
      } else {
        status = SecItemDelete(present as CFDictionary)
      }
      switch status {
      case errSecSuccess: return true
      case errSecItemNotFound, errSecDuplicateItem: return false
      default: throw fault(status)
      }
    }

    private func fault(_ status: OSStatus) -> NSError {
      NSError(domain: NSOSStatusErrorDomain, code: Int(status))
    }
  }
#endif
