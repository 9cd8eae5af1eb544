/** A person who uses the chat on whichever node runs, and repeats each request until it is answered. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { type Answered, ask } from '../../support/http-spec.js';
import type { random } from '../../support/random.js';
import { untilAnswered } from '../rounds/client.js';
import type { Installation } from '../rounds/installation.js';
import { type Any, type File, isGone, type Place, type Post } from './ledger.js';

/** An acknowledged request; sent again, it must get the same answer. */
export interface Sent {
  readonly method: string;
  readonly path: string;
  readonly body: unknown;
  readonly key: string;
  readonly answer: Any;
  readonly about: readonly Post[];
}

/** What everybody in the chat shares. */
export interface Day {
  readonly at: Installation;
  places: readonly Place[];
  readonly posts: Post[];
  /** Number of actions begun. */
  actions: number;
}

export type Pick = ReturnType<typeof random>;

const PASSWORD = 'correct horse battery';
const REACTIONS = ['+1', 'tada', '👀'];
/** Longest pause between two actions. */
const PAUSE_MS = 60;

/** A text to post, with the message it quotes and the file it attaches. */
interface Written {
  readonly body: { readonly content: string };
  readonly quoted: Post | undefined;
  readonly file: File | undefined;
}

export const emailOf = (name: string) => `${name}@example.org`;

export class Person {
  readonly sent: Sent[] = [];
  readonly #day: Day;
  readonly #pick: Pick;
  id = '';
  token = '';
  isAdmin = false;

  constructor(
    day: Day,
    readonly name: string,
    pick: Pick,
  ) {
    this.#day = day;
    this.#pick = pick;
  }

  async register(): Promise<void> {
    const body = { email: emailOf(this.name), password: PASSWORD };
    await untilAnswered(this.#day.at, 'chat', (base) => ask(base, 'POST', '/auth/register', { body }));
    await this.signIn();
  }

  async signIn(password = PASSWORD): Promise<void> {
    const body = { email: emailOf(this.name), password };
    const signedIn = await untilAnswered(this.#day.at, 'chat', (base) =>
      ask(base, 'POST', '/auth/password-login', { body }),
    );
    if (signedIn.status !== 200) throw new Error(`${this.name} was not signed in: ${JSON.stringify(signedIn.body)}`);
    this.token = signedIn.body.accessToken;
    const { user } = (await this.#ask('GET', '/auth/me')).body;
    this.id = user.id;
    this.isAdmin = user.isAdmin;
  }

  #ask(method: string, path: string, body?: unknown, headers = {}): Promise<Answered> {
    const { token } = this;
    return untilAnswered(this.#day.at, 'chat', (base) => ask(base, method, path, { token, body, headers }));
  }

  /** Sends a write under a key; undefined if a post that it is about has gone meanwhile. */
  async send(method: string, path: string, body: unknown, about: readonly Post[] = []): Promise<Any> {
    const key = randomUUID();
    const answer = await this.#ask(method, path, body, { 'idempotency-key': key });
    if (answer.status === 200) {
      this.sent.push({ method, path, body, key, answer: answer.body, about });
      return answer.body;
    }
    if (about.some(isGone)) return undefined;
    throw new Error(`${this.name}: ${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  }

  async read(path: string): Promise<Any> {
    const { status, body } = await this.#ask('GET', path);
    if (status !== 200) throw new Error(`${this.name}: GET ${path}: ${status} ${JSON.stringify(body)}`);
    return body;
  }

  /** Asks one node, and resolves to true. */
  async expectStatus(base: string, status: number, method: string, path: string, body?: unknown): Promise<true> {
    const answer = await ask(base, method, path, { token: this.token, body });
    expect(answer.status, `${this.name}: ${method} ${path}: ${JSON.stringify(answer.body)}`).to.equal(status);
    return true;
  }

  /** Acts `times` times, on own posts and on posts that existed at the start. */
  async act(times: number): Promise<void> {
    const before = this.#visible(this.#day.posts);
    for (let n = 0; n < times; n++) {
      this.#day.actions++;
      await this.#actOnce([...before, ...this.#own().filter((post) => !before.includes(post))]);
      await sleep(this.#pick(PAUSE_MS));
    }
  }

  #sees = ({ viewers }: Place) => viewers.includes(this.name);
  #visible = (posts: readonly Post[]) => posts.filter((post) => this.#sees(post.place) && !isGone(post));
  #own = () => this.#visible(this.#day.posts).filter(({ author }) => author === this.name);
  #oneOf = <Item>(items: readonly Item[]): Item | undefined => items[this.#pick(items.length || 1)];

  async #actOnce(targets: readonly Post[]): Promise<unknown> {
    const pick = this.#pick;
    const target = this.#oneOf(targets);
    const own = this.#oneOf(this.#own());
    const action = pick(20);
    if (action < 5 || !target) return this.#post(this.#oneOf(this.#day.places.filter(this.#sees))!, targets);
    if (action < 10) return this.#reply(target.parent ?? target, targets);
    if (action < 12) return own && this.#edit(own);
    if (action < 13) return own && this.remove(own);
    if (action < 14) return this.isAdmin && this.remove(target);
    if (action < 16) return this.#react(target);
    if (action < 17) return own && this.#pin(own);
    if (action < 18) return this.send('PUT', '/presence/me', { status: ['online', 'away'][pick(2)] });
    return this.#look(target);
  }

  #newContent = () => `day ${this.name} w${randomUUID().replaceAll('-', '')}`;

  async #write(place: Place, targets: readonly Post[]): Promise<Written> {
    const quoted = this.#pick(4) === 0 ? this.#oneOf(targets.filter((each) => each.place === place)) : undefined;
    const file = this.#pick(6) === 0 ? await this.#upload() : undefined;
    const content = this.#newContent();
    const body = {
      content,
      ...(quoted && { quotedMessageId: quoted.id }),
      ...(file && { attachments: [file.attachment] }),
    };
    return { body, quoted, file };
  }

  async #upload(): Promise<File & { readonly attachment: object }> {
    const content = this.#newContent();
    const body = { filename: `${this.name}.txt`, file: Buffer.from(content).toString('base64') };
    const { attachment } = await this.send('POST', '/files', body);
    return { filename: attachment.filename, content, attachment };
  }

  #remember(id: string, place: Place, parent: Post | undefined, written: Written) {
    const { body, quoted, file } = written;
    this.#day.posts.push({
      id,
      place,
      parent,
      author: this.name,
      quotedMessageId: quoted?.id ?? null,
      file,
      contents: [body.content],
      reactions: new Map(),
      isPinned: false,
      deletedBy: new Set(),
    });
  }

  async #post(place: Place, targets: readonly Post[]): Promise<void> {
    const written = await this.#write(place, targets);
    const about = written.quoted ? [written.quoted] : [];
    const answer = await this.send('POST', `${place.path}/messages`, written.body, about);
    if (answer) this.#remember(answer.message.id, place, undefined, written);
  }

  async #reply(parent: Post, targets: readonly Post[]): Promise<void> {
    if (!parent.place.path.startsWith('/channels')) return this.#post(parent.place, targets);
    const written = await this.#write(parent.place, targets);
    const about = [parent, ...(written.quoted ? [written.quoted] : [])];
    const answer = await this.send('POST', `/messages/${parent.id}/thread`, written.body, about);
    if (answer) this.#remember(answer.reply.id, parent.place, parent, written);
  }

  /** One of the two routes of a post. */
  #pathOf({ id, parent, place }: Post): string {
    if (this.#pick(2) === 0) return `/messages/${id}`;
    if (parent) return `/messages/${parent.id}/thread/${id}`;
    return place.path.startsWith('/conversations') ? `${place.path}/messages/${id}` : `/messages/${id}`;
  }

  async #edit(post: Post): Promise<void> {
    const content = this.#newContent();
    if (await this.send('PUT', this.#pathOf(post), { content }, [post])) post.contents.push(content);
  }

  async remove(post: Post): Promise<void> {
    post.deletedBy.add(this.name);
    await this.send('DELETE', this.#pathOf(post), undefined, [post]);
  }

  async #react(post: Post): Promise<void> {
    const reaction = this.#oneOf(REACTIONS)!;
    const names = post.reactions.get(reaction) ?? new Set();
    post.reactions.set(reaction, names);
    const method = names.has(this.name) ? 'DELETE' : 'POST';
    if (!(await this.send(method, `/messages/${post.id}/reactions`, { reaction }, [post]))) return;
    if (method === 'POST') names.add(this.name);
    else names.delete(this.name);
  }

  async #pin(post: Post): Promise<void> {
    if (post.parent || !post.place.path.startsWith('/channels')) return;
    const method = post.isPinned ? 'DELETE' : 'POST';
    if (await this.send(method, `/messages/${post.id}/pin`, {}, [post])) post.isPinned = !post.isPinned;
  }

  async #look(post: Post): Promise<void> {
    await this.read(`${post.place.path}/messages`);
    await this.read(`/search/messages?q=${this.name}`);
  }
}
