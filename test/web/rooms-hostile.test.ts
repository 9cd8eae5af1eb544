/** Encrypted rooms in a real browser: a service that tampers, and people who are removed. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { choose, createRoom, inOrder, inviteLink, joinBy, picture, reads, sendText, useRooms } from './rooms-page.js';

interface Stored {
  readonly id: string;
  readonly senderId: string;
  readonly ciphertext: string;
}

/** Changes the state that the service sends to a page, from its next load on. */
const tamper = (page: Page, change: (messages: readonly Stored[]) => readonly Stored[]) =>
  page.route('**/state', async (route) => {
    const response = await route.fetch();
    const state = await response.json();
    await route.fulfill({ response, json: { ...state, messages: change(state.messages) } });
  });

describe('rooms page, against odds', function () {
  this.timeout(120_000);
  const { open } = useRooms();

  async function two(title = '') {
    const ada = await open();
    const roomId = await createRoom(ada, 'Ada', title);
    const bob = await open(await inviteLink(ada));
    await joinBy(bob, 'Bob');
    await reads(ada, 'Bob joined');
    return { ada, bob, roomId };
  }

  it('shows what a tampering service did, and rejects it', async () => {
    const { ada, bob } = await two();
    for (const text of ['one', 'two', 'three', 'four']) {
      await sendText(ada, text);
      await reads(bob, text);
    }
    await tamper(bob, (messages) => {
      const [one, two, three, four] = messages.slice(-4);
      const altered = { ...two!, ciphertext: `${two!.ciphertext[0] === 'A' ? 'B' : 'A'}${two!.ciphertext.slice(1)}` };
      const others = messages.slice(0, -4);
      const posed = {
        ...one!,
        id: 'posed',
        senderId: others.find(({ senderId }) => senderId !== one!.senderId)!.senderId,
      };
      return [...others, one!, { ...one!, id: 'again' }, altered, posed, four!].filter((each) => each !== three);
    });
    await bob.reload();
    await reads(bob, 'four');
    await bob.getByText('A repeated message of Ada rejected').waitFor();
    await bob.getByText('A message in the name of Ada rejected').waitFor();
    await bob.getByText('A message in your name rejected').waitFor();
    // The altered one does not count as arrived.
    await bob.getByText('2 messages of Ada did not arrive').waitFor();
    expect(await bob.getByText('two', { exact: true }).count()).to.equal(0);
    await inOrder(bob);
    await picture(bob, 'tampered');

    // The key of an unverified person, exchanged between two loads.
    await bob.unroute('**/state');
    await bob.route('**/state', async (route) => {
      const response = await route.fetch();
      const state = await response.json();
      const [{ signingPublicKey }] = state.participants.slice(-1);
      const participants = state.participants.map((each: object) => ({ ...each, signingPublicKey }));
      await route.fulfill({ response, json: { ...state, participants } });
    });
    await bob.evaluate('location.hash = "#/"');
    await bob.reload();
    await bob.getByRole('link', { name: /left/ }).click();
    await bob.getByText(/lists another key than before for/).waitFor();
    await inOrder(bob);
    await picture(bob, 'exchanged');

    // People with the same name are distinguished by a number.
    const other = await open(await inviteLink(ada));
    await joinBy(other, 'bob');
    await sendText(other, 'I am Bob');
    await ada
      .getByRole('log')
      .getByText(/^bob \(\d{5}\)$/)
      .waitFor();
  });

  it('changes the key without a participant, who returns by a new link', async () => {
    const { ada, bob } = await two('Plans');
    const eve = await open(await inviteLink(ada));
    await joinBy(eve, 'Eve');
    await reads(ada, 'Eve joined');
    const old = await inviteLink(ada);
    await sendText(eve, 'I am reading along');
    await reads(ada, 'I am reading along');

    await bob.context().setOffline(true);
    await bob.getByText('Not connected.').waitFor();
    await sendText(bob, 'written before I knew');
    await ada.getByRole('button', { name: 'People', exact: true }).click();
    await ada.getByRole('button', { name: /^Eve/ }).click();
    await ada.getByRole('button', { name: 'Remove from the conversation…' }).click();
    await ada.getByRole('heading', { name: 'Remove Eve?' }).waitFor();
    await inOrder(ada);
    await ada.getByRole('button', { name: 'Change the key' }).click();
    await reads(ada, 'Eve cannot read new messages');
    await eve.getByText('The room key was changed without you').waitFor();
    await bob.context().setOffline(false);
    await reads(bob, 'Eve cannot read new messages');
    await reads(ada, 'written before I knew');
    await sendText(bob, 'now without Eve');
    await reads(ada, 'now without Eve');
    expect(await eve.getByText('written before I knew').count()).to.equal(0);
    await eve.getByText(/encrypted with a room key that this device does not have/).waitFor();
    await inOrder(eve);
    await picture(eve, 'excluded');

    // A link from before the change lets in, but opens nothing new.
    const late = await open(old);
    await joinBy(late, 'Late');
    await late.getByText('The room key was changed without you').waitFor();
    await ada.getByRole('heading', { name: 'Without the room key' }).waitFor();

    for (const page of [ada, bob]) await page.reload();
    await reads(ada, 'now without Eve');
    await sendText(ada, 'still here');
    await reads(bob, 'still here');

    await eve.goto(await inviteLink(ada));
    await eve.getByRole('heading', { name: 'This link has another room key' }).waitFor();
    await inOrder(eve);
    await eve.getByRole('button', { name: 'Take over the key' }).click();
    await eve.getByText('The invite was not used.').waitFor();
    await reads(eve, 'now without Eve');
    await sendText(eve, 'back again');
    await reads(bob, 'back again');
    for (const page of [ada, bob, eve]) expect(await page.locator('.fault').count()).to.equal(0);

    await choose(bob, 'Change your name…');
    await inOrder(bob);
    await bob.getByRole('textbox', { name: 'Your name' }).fill('Robert');
    await bob.getByRole('button', { name: 'Change', exact: true }).click();
    await reads(eve, 'Bob is now Robert');
    await choose(bob, 'Leave the room…');
    await bob.getByRole('button', { name: 'Leave', exact: true }).click();
    await bob.getByText('You left the room').waitFor();
    await reads(eve, 'Robert left');
  });
});
