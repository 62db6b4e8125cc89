import Testing

@testable import Frames

struct MailboxTests {
  @Test func theNewestValueWins() {
    let mailbox = Mailbox<Int>()
    #expect(mailbox.take() == nil)
    mailbox.put(1)
    mailbox.put(2)
    #expect(mailbox.take() == 2)
    #expect(mailbox.take() == nil)
    #expect(mailbox.replacedCount == 1)
  }
}
