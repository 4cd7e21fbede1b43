#if canImport(Security)
  public import Foundation
  internal import Security

  /// Keeps the session in the Keychain: for this device only, readable once it has been unlocked after a start, so that
  /// work in the background has it. It is in no backup and on no other device.
  public final class KeychainStore: SessionStore {
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

    /// Reads and changes the item. Other processes are not kept out: a lock that is held while an app is suspended ends it.
    public func update<R>(_ body: (inout Data?) throws -> R) throws -> R {
      lock.lock()
      defer { lock.unlock() }
      let before = try read()
      var value = before
      let result = try body(&value)
      if value != before { try write(value, replacing: before != nil) }
      return result
    }

    private var item: [CFString: Any] {
      var item: [CFString: Any] = [
        kSecClass: kSecClassGenericPassword, kSecAttrService: "Bramley", kSecAttrAccount: name,
        kSecUseDataProtectionKeychain: true,
      ]
      item[kSecAttrAccessGroup] = accessGroup
      return item
    }

    private func read() throws -> Data? {
      var found: CFTypeRef?
      let query = item.merging([kSecReturnData: true, kSecMatchLimit: kSecMatchLimitOne]) { $1 }
      let status = unsafe SecItemCopyMatching(query as CFDictionary, &found)
      switch status {
      case errSecSuccess: return found as? Data
      case errSecItemNotFound: return nil
      // Among them errSecInteractionNotAllowed, before the first unlock: that nobody can read is not that nobody is there.
      default: throw NSError(domain: NSOSStatusErrorDomain, code: Int(status))
      }
    }

    private func write(_ value: Data?, replacing: Bool) throws {
      let content: [CFString: Any]? = value.map {
        [kSecValueData: $0, kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly]
      }
      let status: OSStatus
      if let content, replacing {
        status = SecItemUpdate(item as CFDictionary, content as CFDictionary)
      } else if let content {
        status = SecItemAdd(item.merging(content) { $1 } as CFDictionary, nil)
      } else {
        status = SecItemDelete(item as CFDictionary)
      }
      guard status == errSecSuccess || value == nil && status == errSecItemNotFound else {
        throw NSError(domain: NSOSStatusErrorDomain, code: Int(status))
      }
    }
  }
#endif
