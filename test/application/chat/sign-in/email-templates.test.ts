/** What mails say, in text and in HTML. */
import { expect } from 'chai';
import { renderEmail } from '../../../../application/chat/sign-in/email-templates.js';

const LINK = 'https://chat.example/?token=a.b-c&email=ada%40example.org';
const plain = { subject: 'Come in', templates: {} };

describe('the letters of the chat', () => {
  it('carry their link in both bodies, and say how long it lasts', () => {
    for (const purpose of ['magic-link', 'invite', 'reset'] as const) {
      const { subject, text, html } = renderEmail(purpose, LINK, 15, plain);
      expect(subject).to.be.a('string').and.not.equal('');
      expect(text).to.contain(LINK).and.contain('15 minutes');
      expect(html)
        .to.contain(`href="${LINK.replace('&', '&amp;')}"`)
        .and.contain('15 minutes');
    }
    expect(renderEmail('invite', LINK, 10_080, plain).text).to.contain('7 days');
    expect(renderEmail('reset', LINK, 1, plain).text).to.contain('1 minute.');
  });

  it('are of the configured subject and words where they are for signing in, and only there', () => {
    const text = (link: string, minutes: number) => `text ${link} ${minutes}`;
    const html = (link: string, minutes: number) => `html ${link} ${minutes}`;
    const own = { subject: 'Come in', templates: { text, html } };
    expect(renderEmail('magic-link', LINK, 15, own)).to.deep.equal({
      subject: 'Come in',
      text: `text ${LINK} 15`,
      html: `html ${LINK} 15`,
    });
    expect(renderEmail('reset', LINK, 15, own)).to.deep.equal(renderEmail('reset', LINK, 15, plain));
    expect(renderEmail('magic-link', LINK, 15, { ...plain, templates: { text } }).html).to.contain('<a href=');
  });

  it('let no link out of its quotes', () => {
    const { html } = renderEmail('magic-link', 'https://x/"><script>&', 15, plain);
    expect(html).to.contain('href="https://x/&quot;&gt;&lt;script&gt;&amp;"').and.not.to.contain('<script>');
  });
});
