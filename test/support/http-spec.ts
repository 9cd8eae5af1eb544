/** The words for specifying routes: given what was asked and done, when this is asked, then this is answered, or it is refused. */
import { expect } from 'chai';
import { type Answered, ask, type RequestOptions } from './chat-client.js';

/** How it is refused besides the status: members of the body, and words of the sentence that a person reads. */
export interface Refused {
  readonly code?: string;
  readonly error?: string | RegExp;
}

export interface When {
  /** Resolves with the answer, whose body has these members. */
  thenAnswered(status: number, some?: object): Promise<Answered>;
  /** Resolves with the answer: JSON with an `error` that a person can read, and nothing of what goes on inside. */
  thenRefused(status: number, how?: Refused): Promise<Answered>;
}

export interface HttpSpec {
  /** Resolves with the body of the answer, which must be a success. */
  given(method: string, path: string, asking?: RequestOptions): Promise<Answered['body']>;
  when(method: string, path: string, asking?: RequestOptions): When;
}

/** A stack, a stream's name, or an error of ours. */
const INSIDE = /\n\s+at |\b(chat|meeting|rooms|logs)\.[\w]+-|Error:/;

export function httpSpec(base: () => string): HttpSpec {
  const when: HttpSpec['when'] = (method, path, asking) => {
    const what = `${method} ${path} ${JSON.stringify(asking?.body ?? '').slice(0, 200)}`;
    const answered = async (status: number) => {
      const answer = await ask(base(), method, path, asking);
      expect(answer.status, `${what} answered ${JSON.stringify(answer.body)}`).to.equal(status);
      return answer;
    };
    return {
      async thenAnswered(status, some = {}) {
        const answer = await answered(status);
        expect(answer.body, what).to.deep.include(some);
        return answer;
      },
      async thenRefused(status, { error, ...members } = {}) {
        const answer = await answered(status);
        expect(answer.headers.get('content-type'), what).to.match(/^application\/json/);
        expect(answer.body.error, what)
          .to.be.a('string')
          .and.match(/^\S.*\S$/);
        expect(answer.body.error, what).not.to.match(INSIDE);
        if (error !== undefined) expect(answer.body.error, what).to.match(new RegExp(error));
        expect(answer.body, what).to.include(members);
        return answer;
      },
    };
  };

  return {
    when,
    async given(method, path, asking) {
      const { status, body } = await ask(base(), method, path, asking);
      expect(status, `${method} ${path} ${JSON.stringify(body)}`).to.be.within(200, 299);
      return body;
    },
  };
}
