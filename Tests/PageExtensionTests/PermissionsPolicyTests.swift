import Testing

@testable import PageExtension

@Suite struct PermissionsPolicyTests {
}
