/** Password hashing at a low cost, for tests that hash often and do not depend on how long it takes. */
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';

/** Cost parameter of scrypt, instead of Node's default 16,384. */
const COST = 256;

/** To be called within `describe`: nodes in this process hash passwords at a low cost. */
export function useCheapScrypt(): void {
  const { scrypt } = crypto;
  before(() => {
    crypto.scrypt = ((password, salt, length, done) =>
      scrypt(password, salt, length, { cost: COST }, done as never)) as typeof scrypt;
    syncBuiltinESMExports();
  });
  after(() => {
    crypto.scrypt = scrypt;
    syncBuiltinESMExports();
  });
}
