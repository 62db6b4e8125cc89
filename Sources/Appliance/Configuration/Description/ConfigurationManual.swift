/// The forms in which `parlor check --describe` writes down all keys of `parlor.toml`.
public enum ConfigurationManual: String, Sendable, CaseIterable {
  /// A JSON Schema, for editors.
  case schema
  /// A page in Markdown: all that is accepted.
  case reference
  /// A table in Markdown: what each key means.
  case table

  /// The text.
  public var text: String {
    get throws(VerbFailure) {
      switch self {
      case .schema: do { return try ConfigurationSchema.text } catch { throw VerbFailure(.internalError, "\(error)") }
      case .reference: return ConfigurationReference.page
      case .table: return ConfigurationReference.table
      }
    }
  }
}
