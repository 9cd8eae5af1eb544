/** Answers that still hold: many who ask the same between two changes ask it once. */

/** On a node that does not project, changes are heard of late: what is older than this is asked again. */
const FRESH_MS = 200;

export interface Asked {
  once<T>(question: string, ask: () => Promise<T>): Promise<T>;
}

/** `version` changes with the rows; an answer reflects at least what it was then. Keeps up to `most`. */
export function createAsked(version: () => unknown, most: number): Asked {
  let answers = new Map<string, Promise<unknown>>();
  let [of, since] = [version(), performance.now()];
  return {
    async once<T>(question: string, ask: () => Promise<T>) {
      const now = version();
      if (now !== of || performance.now() - since > FRESH_MS || answers.size >= most) {
        answers = new Map();
        [of, since] = [now, performance.now()];
      }
      const known = answers.get(question);
      if (known) return known as Promise<T>;
      const mine = answers;
      const answer = ask();
      mine.set(question, answer);
      answer.catch(() => mine.delete(question));
      return answer;
    },
  };
}
