/** The history of a message over HTTP: all versions, streamed. */
import { expect } from 'chai';
import { useChannel } from '../../support/chat-scenario.js';
import type { Member } from '../../support/http-spec.js';

interface Version {
  readonly content: string;
  readonly createdAt: number;
  readonly author: { readonly id: string; readonly userName: string };
}

describe('history of a message', function () {
  this.timeout(120_000);
  const world = useChannel();

  const edit = (id: string, content: string) => world.done(world.ada, 'PUT', `/messages/${id}`, { content });
  const history = async (id: string, who: Member = world.ada): Promise<readonly Version[]> =>
    (await world.done(who, 'GET', `/messages/${id}/history`)).history;
  const contents = (versions: readonly Version[]) => versions.map(({ content }) => content);

  it('contains every version', async () => {
    const { id, createdAt } = await world.post(world.ada, 'one');
    await edit(id, 'two');
    await world.done(world.bob, 'POST', `/messages/${id}/pin`, {});
    await edit(id, 'three');
    for (const who of [world.ada, world.bob, world.admin]) {
      const versions = await history(id, who);
      expect(contents(versions)).to.deep.equal(['one', 'two', 'three']);
      expect(versions[0]).to.deep.include({ author: { id: world.ada.id, userName: 'ada' }, createdAt });
    }
  });

  it('is complete and streamed for a message with many edits', async () => {
    const { id } = await world.post(world.ada, 'version 0');
    const padding = 'x'.repeat(2000);
    const expected = ['version 0'];
    for (let n = 1; n <= 40; n++) expected.push((await edit(id, `version ${n} ${padding}`)).message.content);
    const { token } = world.bob;
    const answer = await fetch(`${world.base}/messages/${id}/history`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(answer.status).to.equal(200);
    expect(answer.headers.get('content-type')).to.match(/^application\/json/);
    expect(answer.headers.get('content-length')).to.equal(null);
    expect(answer.headers.get('position')).to.match(/^\d+$/);
    const page: { history: Version[] } = JSON.parse(await answer.text());
    expect(contents(page.history)).to.deep.equal(expected);
  });
});
