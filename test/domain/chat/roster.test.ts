/** Roster rules: unique emails and names, and never without an admin. */
import { expect } from 'chai';
import fc from 'fast-check';
import {
  nameOf,
  type RosterCommand,
  type RosterEvent,
  roster,
  userByEmail,
  userById,
} from '../../../domain/chat/roster.js';
import { evolveOf, isRejection } from '../../../domain/shared/decider.js';
import {
  add,
  added,
  admin,
  changeRole,
  emailOf,
  erased,
  eraseUser,
  leave,
  left,
  register,
  remove,
  removed,
  rename,
  renamed,
  roleChanged,
  signIn,
} from '../../support/chat-user-fixtures.js';
import { specOf } from '../../support/decider-spec.js';

const { given, after, run } = specOf(roster);

describe('the roster', () => {
  it('adds a user once at the first sign-in', () => {
    given().when(signIn('bob')).then(added('bob'));
    given(added('bob')).when(signIn('bob')).thenNothing();
  });

  it('rejects registration or invitation of a known email', () => {
    given(admin('ada'), added('bob')).when(register('bob')).thenRejected('chat/user-exists', { kind: 'invalid' });
    given(admin('ada'), added('bob')).when(add('bob')).thenRejected('chat/user-exists', { kind: 'invalid' });
    given(admin('ada'))
      .when(register('bob'))
      .then(added('bob', { how: 'register' }));
  });

  it('rejects invalid emails', () => {
    for (const email of [
      '',
      'ada',
      '@x',
      'a@',
      'a b@x',
      'a@x\n',
      'a@b@c',
      'a\ud800@x',
      'a@x\udc00',
      `${'a'.repeat(250)}@b.cd`,
    ])
      given()
        .when({ ...(signIn('bob') as object), email } as RosterCommand)
        .thenRejected('chat/bad-email', { kind: 'invalid' });
    given()
      .when({ ...(signIn('bob') as object), email: 'admin@localhost' } as RosterCommand)
      .then(
        Object.assign(structuredClone(added('bob')), {
          data: { ...added('bob').data, secret: { email: 'admin@localhost', userName: 'bob' } },
        }) as RosterEvent,
      );
  });

  it('lets only admins add users', () => {
    given(admin('ada'))
      .when(add('bob'))
      .then(added('bob', { how: 'admin', by: 'ada' }));
    given(admin('ada'))
      .when(add('bob', { isAdmin: true }))
      .then(added('bob', { how: 'admin', by: 'ada', isAdmin: true }));
    for (const by of ['bob', 'nobody', 'carol'])
      given(admin('ada'), added('bob'), admin('carol'), removed('carol'))
        .when(add('dave', { by }))
        .thenRejected('chat/not-admin', { kind: 'forbidden' });
  });

  it('makes names of new users unique by a numeric suffix, ignoring case', () => {
    const like = (userId: string) => signIn(userId, 'Ann');
    const { state } = run([like('ann'), signIn('a2', 'ANN'), signIn('a3', 'ann')]);
    expect(['ann', 'a2', 'a3'].map((id) => nameOf(state, id))).to.deep.equal(['Ann', 'ANN2', 'ann3']);
    const long = 'x'.repeat(80);
    const { state: longs } = run([signIn('x1', long), signIn('x2', long)]);
    expect(nameOf(longs, 'x1')).to.equal('x'.repeat(64));
    expect(nameOf(longs, 'x2')).to.equal(`${'x'.repeat(63)}2`);
    expect(nameOf(run([signIn('y', ' \n ')]).state, 'y')).to.equal('user');
  });

  it('allows renaming to an unused name of 1 to 64 characters', () => {
    given(added('bob')).when(rename('bob', '  Bob \n B ')).then(renamed('bob', 'Bob B'));
    given(added('bob')).when(rename('bob', 'B\ud83d b')).then(renamed('bob', 'B b'));
    given(added('bob')).when(rename('bob', 'bob')).thenNothing();
    given(added('bob')).when(rename('bob', 'BOB')).then(renamed('bob', 'BOB'));
    given(added('bob'))
      .when(rename('bob', '🦉'.repeat(64)))
      .then(renamed('bob', '🦉'.repeat(64)));
    for (const wrong of ['', ' \t', '\u200b \u3164', '\u2800', 'x'.repeat(65)])
      given(added('bob')).when(rename('bob', wrong)).thenRejected('chat/bad-name', { kind: 'invalid' });
    // Equivalent names from an earlier release: the first user keeps the name.
    given(added('ann'), added('bob'), renamed('bob', 'ann\u200b'), renamed('bob', 'bob'), added('cyd'))
      .when(rename('cyd', 'Ann'))
      .thenRejected('chat/name-taken', { kind: 'invalid' });
    for (const taken of [
      'ann',
      'ANN',
      'a\u200bnn\u2060',
      'ann \u200b',
      '\u200b ann',
      'Ann\u2800',
      'Ａｎｎ',
      'ａnn\u3000',
      'deleted USER',
      'Deleted\u00ad user',
      'deleted \u200b user',
    ])
      given(added('ann'), added('bob')).when(rename('bob', taken)).thenRejected('chat/name-taken', { kind: 'invalid' });
    given(added('ann'), renamed('ann', 'Anna'), added('bob')).when(rename('bob', 'ann')).then(renamed('bob', 'ann'));
  });

  it('lets only admins change roles', () => {
    given(admin('ada'), added('bob')).when(changeRole('bob', true)).then(roleChanged('bob', true));
    given(admin('ada'), admin('bob')).when(changeRole('bob', true)).thenNothing();
    given(admin('ada')).when(changeRole('nobody', true)).thenRejected('chat/unknown-user', { kind: 'invalid' });
    given(admin('ada'), added('bob'))
      .when(changeRole('bob', true, 'bob'))
      .thenRejected('chat/not-admin', { kind: 'forbidden' });
  });

  it('never loses its last admin', () => {
    for (const command of [changeRole('ada', false), remove('ada'), leave('ada'), eraseUser('ada')])
      given(admin('ada'), added('bob')).when(command).thenRejected('chat/last-admin', { kind: 'invalid' });
    const two = [admin('ada'), admin('bob')];
    given(...two)
      .when(changeRole('ada', false))
      .then(roleChanged('ada', false));
    given(...two)
      .when(remove('ada'))
      .then(removed('ada'));
    given(...two)
      .when(leave('ada'))
      .then(left('ada'));
  });

  it('removes a user once, and lets a user leave once', () => {
    given(admin('ada'), added('bob')).when(remove('bob')).then(removed('bob'));
    for (const departure of [removed('bob'), left('bob')]) {
      given(admin('ada'), added('bob'), departure)
        .when(remove('bob'))
        .thenRejected('chat/user-not-found', { kind: 'not-found' });
      given(admin('ada'), added('bob'), departure).when(leave('bob')).thenRejected('chat/user-not-found');
      const state = after([admin('ada'), added('bob'), departure]);
      expect(userById(state, 'bob')).to.equal(undefined);
      expect(nameOf(state, 'bob')).to.equal('bob');
      given(admin('ada'), added('bob'), departure)
        .when({ ...(signIn('bob') as object), userId: 'bob2' } as RosterCommand)
        .then({
          ...added('bob2'),
          data: { ...added('bob2').data, secret: { email: emailOf('bob'), userName: 'bob' } },
        } as RosterEvent);
    }
  });

  it('erases users, removing them first', () => {
    given(admin('ada'), added('bob')).when(eraseUser('bob')).then(removed('bob', 'operator'), erased('bob'));
    given(admin('ada'), added('bob'), left('bob')).when(eraseUser('bob')).then(erased('bob'));
    given(admin('ada'), added('bob'), removed('bob'), erased('bob')).when(eraseUser('bob')).thenNothing();
    given(admin('ada')).when(eraseUser('nobody')).thenRejected('chat/user-not-found');
    const state = after([admin('ada'), added('bob'), removed('bob'), erased('bob')]);
    expect(nameOf(state, 'bob')).to.equal('Deleted user');
    expect(JSON.stringify([...state.users])).not.to.contain('@example.org"}'.replace('"}', '').concat('bob'));
    expect(nameOf(state, 'never was')).to.equal('Deleted user');
  });

  it('keeps its invariants under any commands', () => {
    const ids = ['ada', 'bob', 'carol', 'dave'];
    const id = fc.constantFrom(...ids);
    const command: fc.Arbitrary<RosterCommand> = fc.oneof(
      id.map((each) => signIn(each, 'same')),
      id.map(register),
      fc.tuple(id, fc.boolean(), id).map(([each, isAdmin, by]) => add(each, { isAdmin, by })),
      fc.tuple(id, fc.constantFrom('same', 'SAME', 'other', '')).map(([each, name]) => rename(each, name)),
      fc.tuple(id, fc.boolean(), id).map(([each, isAdmin, by]) => changeRole(each, isAdmin, by)),
      fc.tuple(id, id).map(([each, by]) => remove(each, by)),
      id.map(leave),
    );
    const evolve = evolveOf(roster);
    fc.assert(
      fc.property(fc.array(command, { maxLength: 40 }), (commands) => {
        let state = evolve(roster.initialState, admin('root'));
        commands.forEach((each, index) => {
          // User ids are unique.
          const fresh = 'email' in each ? { ...each, userId: `${each.userId}-${index}` } : each;
          const outcome = roster.decide(fresh, state);
          if (!isRejection(outcome)) state = outcome.reduce(evolve, state);
        });
        const present = [...state.users.values()].filter(({ isRemoved }) => !isRemoved);
        expect(present.filter(({ isAdmin }) => isAdmin)).to.have.length(state.admins);
        expect(state.admins).to.be.greaterThan(0);
        expect(state.emails.size).to.equal(present.length);
        expect(new Set(present.map(({ userName }) => userName.toLowerCase())).size).to.equal(present.length);
        for (const user of present) expect(userByEmail(state, user.email)).to.equal(user);
      }),
    );
  });
});
