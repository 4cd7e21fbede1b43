/// How far an identity at Apple has come on its way to another developer team, for which the person has another subject
/// (TN3159).
package struct IdentityTransfer: Sendable, Hashable {
  /// What became of it so far.
  package enum State: String, Sendable, CaseIterable {
    /// Apple gave a transfer subject for it.
    case exported
    /// Apple would give none, as for who took the consent back.
    case exportRefused = "export_refused"
    /// The identity has the subject that the person has at the other team.
    case rekeyed
    /// Apple would not say who that is at the other team.
    case importRefused = "import_refused"
    /// Another account has that subject already.
    case conflict

    /// Whether there is a transfer subject, but not yet the subject at the other team.
    package var isUnderWay: Bool { [.exported, .importRefused, .conflict].contains(self) }
  }

  package let state: State
  /// The team that the app goes to.
  package let team: TeamID
  /// Who the person is on the way from team to team: the same for one person and one recipient. Nil where Apple gave none.
  package let subject: Subject?
  /// Apple's word for a refusal, or the id of the account that a conflict is with.
  package let detail: String?
  /// When it last came further.
  package let at: UnixTime

  package init(state: State, team: TeamID, subject: Subject?, detail: String?, at: UnixTime) {
    self.state = state
    self.team = team
    self.subject = subject
    self.detail = detail
    self.at = at
  }

  /// Whether the identity has its transfer subject, but not yet the subject at the other team.
  package var isUnderWay: Bool { state.isUnderWay }

  /// The same at another stage.
  package func moved(to state: State, detail: String? = nil, at now: UnixTime) -> IdentityTransfer {
    IdentityTransfer(state: state, team: team, subject: subject, detail: detail, at: now)
  }
}
