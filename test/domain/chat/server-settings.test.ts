/** Rules of the server settings. */
import { server } from '../../../domain/chat/server-settings.js';
import { NOON } from '../../support/chat-user-fixtures.js';
import { specOf } from '../../support/decider-spec.js';

const { given } = specOf(server);
const rename = (name: string) => ({ type: 'RenameServer' as const, name, by: 'ada', now: NOON });
const renamed = (name: string) => ({
  type: 'ServerRenamed' as const,
  data: { by: 'ada', renamedAt: NOON, secret: { name } },
});

describe('the server name', () => {
  it('is trimmed when changed', () => given().when(rename(' Office ')).then(renamed('Office')));
  it('does not change to an equal name', () => {
    given().when(rename('Annals')).thenNothing();
    given(renamed('Office')).when(rename('Office')).thenNothing();
  });
  it('has 1 to 80 characters', () => {
    for (const name of ['', ' ', '\u200b', 'x'.repeat(81)])
      given().when(rename(name)).thenRejected('chat/bad-server-name', { kind: 'invalid' });
  });
});
