/** Idempotency keys of forms. */
import { useRef } from 'preact/hooks';
import { randomKey } from '../../shared/random-key.js';

/** Returns one key per body, so that submitting a form again after a lost response has no second effect. */
export function useCommandKey(): (body: object) => string {
  const last = useRef({ body: '', key: '' });
  return (body) => {
    const text = JSON.stringify(body);
    if (text !== last.current.body) last.current = { body: text, key: randomKey() };
    return last.current.key;
  };
}
