package import Domain
package import Storage

extension SQLLedger {
  package mutating func session(_ id: SessionID) throws(StorageError) -> Session? {
    if let known = known?.sessions[id] { return known }
    return try statements.session.first { slots in
      slots.add(id.bytes)
    } _: { (row: inout Row) throws(StorageError) in
      try row.session()
    }
  }

  package mutating func insert(_ session: Session) throws(StorageError) {
    try statements.insertSession.run { slots in
      slots.add(session.id.bytes)
      slots.add(session.account.text)
      slots.add(session.provider)
      slots.add(session.createdAt)
      slots.add(session.device?.name)
      slots.add(session.device?.model)
      slots.add(session.device?.os)
      slots.add(session.device?.appVersion)
      slots.add(session.customClaims)
      slots.addProgress(of: session)
      slots.add(session.end?.rawValue)
      slots.add(session.endedAt)
    }
    known?.note(session)
  }

  /// A session that is over stays so: progress is written to a living one only.
  package mutating func update(_ session: Session) throws(StorageError) {
    if let end = session.end {
      try statements.updateEndedSession.runOnOneRow { slots in
        slots.add(session.id.bytes)
        slots.addProgress(of: session)
        slots.add(end.rawValue)
        slots.add(session.endedAt)
      }
    } else {
      try statements.updateLivingSession.runOnOneRow { slots in
        slots.add(session.id.bytes)
        slots.addProgress(of: session)
      }
    }
    known?.note(session)
  }

  package mutating func sessions(of account: AccountID) throws(StorageError) -> [Session] {
    try statements.sessionsOfAccount.all { slots in
      slots.add(account.text)
    } _: { (row: inout Row) throws(StorageError) in
      try row.session()
    }
  }

  package mutating func sessionCounts(
    openedAfter opening: UnixTime, refreshedAfter refresh: UnixTime
  ) throws(StorageError) -> [MasterKeyID: Int] {
    var counts: [MasterKeyID: Int] = [:]
    try statements.sessionCounts.each { slots in
      slots.add(opening)
      slots.add(refresh)
    } _: { (row: inout Row) throws(StorageError) in
      counts[try row.masterKey()] = Int(try row.number())
    }
    return counts
  }
}

extension SQLSlots {
  /// What a refresh moves, in the order in which the statements name it.
  fileprivate mutating func addProgress(of session: Session) {
    add(Int64(session.counter))
    add(session.masterKey.bytes)
    add(session.rotatedAt)
    add(Int64(session.lateRotations))
    add(session.isLateSinceRotation)
  }
}

extension SQLRow {
  mutating func session() throws(StorageError) -> Session {
    Session(
      id: try sessionID(), account: try identifier(), provider: try text(), createdAt: try time(),
      device: try device(), customClaims: try optionalText(),
      counter: try required(UInt32(exactly: number())), masterKey: try masterKey(),
      rotatedAt: try time(), lateRotations: try required(Int(exactly: number())),
      isLateSinceRotation: try flag(),
      end: try optionalText().map { (text) throws(StorageError) in try required(SessionEnd(rawValue: text)) },
      endedAt: try optionalTime())
  }

  private mutating func device() throws(StorageError) -> Device? {
    let device = Device(
      name: try optionalText(), model: try optionalText(), os: try optionalText(),
      appVersion: try optionalText())
    return device.isEmpty ? nil : device
  }
}
