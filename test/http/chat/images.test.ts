/** Images over HTTP: they belong to the channel or conversation that they were uploaded to. */
import { randomBytes } from 'node:crypto';
import { eventually } from '@annals/engines/testing/condition.js';
import { expect } from 'chai';
import { SAMPLES } from '../../support/chat-fixtures.js';
import { type ChatWorld, startChat } from '../../support/chat-scenario.js';
import type { Member } from '../../support/http-spec.js';

const MEBIBYTE = 1024 * 1024;

function png(length: number): Buffer {
  const bytes = randomBytes(length);
  SAMPLES.png!.copy(bytes, 0, 0, 8);
  return bytes;
}

describe('images of the chat', function () {
  this.timeout(120_000);
  let world: ChatWorld;
  let open: string;
  let secret: string;
  let direct: string;
  let parent: string;
  before(async () => {
    world = await startChat();
    const { ada, bob } = world;
    open = (await world.done(ada, 'POST', '/channels', { name: 'open' })).channel.id;
    const body = { name: 'secret', isPrivate: true, members: [bob.id] };
    secret = (await world.done(ada, 'POST', '/channels', body)).channel.id;
    direct = (await world.done(ada, 'POST', '/conversations', { targetUserId: bob.id })).conversation.id;
    parent = (await world.done(ada, 'POST', `/channels/${open}/messages`, { content: 'parent' })).message.id;
  });
  after(() => world?.stop());

  const inChannel = (id: string) => `/channels/${id}/messages/image`;
  const inConversation = (id: string) => `/conversations/${id}/messages/image`;
  const inThread = (id: string) => `/messages/${id}/thread/image`;

  const upload = (
    who: Member | undefined,
    path: string,
    filename = 'x.png',
    image: Buffer | string = png(100),
    more = {},
  ) =>
    world.as(who, 'POST', path, {
      filename,
      image: typeof image === 'string' ? image : image.toString('base64'),
      ...more,
    });
  async function uploaded(who: Member, path: string, ...what: [string?, Buffer?, object?]): Promise<string> {
    const { status, body } = await upload(who, path, ...what);
    expect(status, JSON.stringify(body)).to.equal(200);
    expect(body).to.have.all.keys('success', 'filename');
    return body.filename;
  }
  async function read(who: Member | undefined, path: string) {
    const response = await fetch(world.base + path, {
      headers: who ? { authorization: `Bearer ${who.token}` } : {},
    });
    return {
      status: response.status,
      headers: response.headers,
      bytes: Buffer.from(await response.arrayBuffer()),
    };
  }
  const statusOf = async (who: Member | undefined, path: string) => (await read(who, path)).status;

  it('are downloaded unchanged with their image type', async () => {
    for (const extension of ['jpg', 'jpeg', 'png', 'webp', 'svg']) {
      const name = await uploaded(world.ada, inChannel(open), `x.${extension}`, SAMPLES[extension]!);
      expect(name).to.match(new RegExp(`^\\d+-[\\w-]+\\.${extension}$`));
      const { status, headers, bytes } = await read(world.bob, `${inChannel(open)}/${name}`);
      expect(status).to.equal(200);
      expect(bytes.equals(SAMPLES[extension]!)).to.equal(true);
      expect(headers.get('content-type')).to.match(/^image\/(jpeg|png|webp|svg\+xml)$/);
      expect(headers.get('x-content-type-options')).to.equal('nosniff');
    }
  });

  it('reject content that does not match the extension, and unsupported types', async () => {
    const wrong: [string, Buffer | string][] = [
      ['x.png', SAMPLES.jpg!],
      ['x.jpg', SAMPLES.png!],
      ['x.webp', Buffer.from('RIFF1234WAVE')],
      ['x.svg', Buffer.from('<!doctype html><script>alert(1)</script><svg/>')],
      ['x.png', Buffer.from('GIF89a<script>alert(1)</script>')],
      ['x.gif', Buffer.from('GIF89a')],
      ['x.pdf', SAMPLES.pdf!],
      ['x.png', ''],
      ['x.png', '!!'],
    ];
    for (const [name, image] of wrong)
      for (const path of [inChannel(open), inConversation(direct), inThread(parent)])
        expect((await upload(world.ada, path, name, image)).status, `${name} ${path}`).to.equal(400);
  });

  it('are served so that no script in them can run', async () => {
    const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>');
    const both = Buffer.concat([SAMPLES.png!, Buffer.from('<html><script>alert(1)</script>')]);
    for (const [name, bytes] of [
      ['x.svg', svg],
      ['x.png', both],
    ] as const) {
      const stored = await uploaded(world.ada, inChannel(open), name, bytes);
      const { headers } = await read(world.ada, `${inChannel(open)}/${stored}`);
      expect(headers.get('content-security-policy')).to.match(/^default-src 'none';.*sandbox$/);
      expect(headers.get('content-security-policy')).not.to.match(/script|allow/);
      expect(headers.get('content-type')).to.match(/^image\//);
    }
  });

  it('have the uploaded thumbnail, which must be an image, or serve as their own', async () => {
    const image = png(5000);
    const thumbnail = `data:image/webp;base64,${SAMPLES.webp!.toString('base64')}`;
    const withThumb = await uploaded(world.ada, inChannel(open), 'x.png', image, { thumbnail });
    const thumb = await read(world.bob, `${inChannel(open)}/${withThumb}?size=thumb`);
    expect(thumb.headers.get('content-type')).to.equal('image/webp');
    expect(thumb.bytes.equals(SAMPLES.webp!)).to.equal(true);
    expect((await read(world.bob, `${inChannel(open)}/${withThumb}`)).bytes.equals(image)).to.equal(true);
    const without = await uploaded(world.ada, inChannel(open), 'x.png', image);
    const itself = await read(world.bob, `${inChannel(open)}/${without}?size=thumb`);
    expect(itself.bytes.equals(image)).to.equal(true);
    for (const wrong of ['!', Buffer.from('%PDF-1.7').toString('base64'), 1])
      expect((await upload(world.ada, inChannel(open), 'x.png', image, { thumbnail: wrong })).status).to.equal(400);
  });

  it('accept 10 MiB, and reject one byte more', async () => {
    const bytes = png(10 * MEBIBYTE);
    const name = await uploaded(world.ada, inChannel(open), 'x.png', bytes);
    expect((await read(world.ada, `${inChannel(open)}/${name}`)).bytes.equals(bytes)).to.equal(true);
    const more = Buffer.concat([bytes, Buffer.from('x')]);
    expect((await upload(world.ada, inChannel(open), 'x.png', more)).status).to.equal(400);
  });

  it('can be uploaded and read by everybody who sees their channel, conversation or thread', async () => {
    const { admin, ada, bob, cyd } = world;
    const visibility: [string, readonly number[]][] = [
      [inChannel(open), [200, 200, 200, 200, 401]],
      [inChannel(secret), [200, 200, 404, 200, 401]],
      [inConversation(direct), [200, 200, 404, 404, 401]],
      [inThread(parent), [200, 200, 200, 200, 401]],
    ];
    for (const [path, expected] of visibility) {
      const name = await uploaded(ada, path);
      const users = [ada, bob, cyd, admin, undefined];
      const seen = await Promise.all(users.map((who) => statusOf(who, `${path}/${name}`)));
      expect(seen, path).to.deep.equal(expected);
      const put = await Promise.all(users.map(async (who) => (await upload(who, path)).status));
      expect(put, path).to.deep.equal(expected);
    }
    for (const path of [inChannel('none'), inConversation(`dm:${ada.id}_${cyd.id}`), inThread('none')]) {
      expect((await upload(ada, path)).status, path).to.equal(404);
      expect(await statusOf(ada, `${path}/x.png`), path).to.equal(404);
    }
    const { reply } = await world.done(ada, 'POST', `/messages/${parent}/thread`, { content: 'x' });
    expect((await upload(ada, inThread(reply.id))).status).to.equal(400);
  });

  it('are not readable elsewhere, except that those of threads are readable in their channel', async () => {
    const { ada } = world;
    const [name, ofThread] = [await uploaded(ada, inChannel(secret)), await uploaded(ada, inThread(parent))];
    for (const path of [inChannel(open), inConversation(direct), inThread(parent), '/files'])
      expect(await statusOf(ada, `${path}/${name}`), path).to.equal(404);
    expect(await statusOf(ada, `${inChannel(open)}/${ofThread}`)).to.equal(200);
    expect(await statusOf(ada, `${inThread(parent)}/${ofThread}`)).to.equal(200);
    const file = { filename: 'x.pdf', file: SAMPLES.pdf!.toString('base64') };
    const { attachment } = await world.done(ada, 'POST', '/files', file);
    expect(await statusOf(ada, `${inChannel(open)}/${attachment.filename}`)).to.equal(404);
  });

  it('can be attached only to messages where they were uploaded', async () => {
    const { ada, bob } = world;
    const [image, between] = [await uploaded(ada, inChannel(open)), await uploaded(bob, inConversation(direct))];
    const post = (path: string, images: readonly string[]) => world.as(ada, 'POST', path, { images });
    const { body } = await post(`/channels/${open}/messages`, [image]);
    expect(body.message.images).to.deep.equal([image]);
    expect((await post(`/messages/${parent}/thread`, [image])).body.reply.images).to.deep.equal([image]);
    expect((await post(`/conversations/${direct}/messages`, [between])).status).to.equal(200);
    expect((await post(`/channels/${secret}/messages`, [image])).status).to.equal(400);
    expect((await post(`/conversations/${direct}/messages`, [image])).status).to.equal(400);
    expect((await post(`/channels/${open}/messages`, ['x.png'])).status).to.equal(400);
  });

  it('are deleted with the last message that shows them, and with their channel', async () => {
    const { ada } = world;
    const made = (await world.done(ada, 'POST', '/channels', { name: 'doomed' })).channel.id;
    const [one, two] = [await uploaded(ada, inChannel(made)), await uploaded(ada, inChannel(made))];
    const { message } = await world.done(ada, 'POST', `/channels/${made}/messages`, { images: [one] });
    await world.done(ada, 'DELETE', `/messages/${message.id}`);
    await eventually(async () => (await statusOf(ada, `${inChannel(made)}/${one}`)) === 404);
    expect(await statusOf(ada, `${inChannel(made)}/${two}`)).to.equal(200);
    await world.done(ada, 'DELETE', `/channels/${made}`);
    expect(await statusOf(ada, `${inChannel(made)}/${two}`)).to.equal(404);
  });
});
