/** Texts of the page, in one place for translation. */
import { duration } from './format.js';

const some = (count: number, kind = '') => (count === 1 ? `A ${kind}message` : `${count} ${kind}messages`);
const number = (count: number) => (count === 1 ? '1 message' : `${count} messages`);
const of = (sender: string | undefined) => (sender ? `of ${sender}` : 'of yours');
const people = (count: number) => (count === 1 ? '1 person' : `${count} people`);

export const texts = {
  title: 'Encrypted rooms',
  close: 'Close',
  cancel: 'Cancel',
  copy: 'Copy',
  copied: 'Copied',
  copyFailed: 'The browser did not allow copying. Select the text and copy it.',
  retry: 'Try again',
  loading: 'Opening the room…',

  insecure: {
    title: 'This page needs a secure connection',
    text: 'Browsers encrypt only on pages opened over https, or on localhost. Ask who runs this service to set up https.',
  },

  start: {
    heading: 'Talk in a room that leaves nothing behind',
    lead: 'Messages, names and files are encrypted in your browser, so this server cannot read them. The room is erased for everyone when its time is up, or at once when somebody burns it.',
    facts: [
      ['No account', 'You need a name of your choice and, to join, an invite link.'],
      ['Keys stay with you', 'The key is part of the link that you pass on. Browsers do not send it to the server.'],
      ['Signed', 'Each message is signed by its sender. Changed or repeated ones are rejected, and you see it.'],
    ],
    create: 'Create a room',
    name: 'Your name',
    nameHint: 'Only people in the room see it.',
    nameNeeded: 'Enter a name.',
    roomTitle: 'Topic',
    roomTitleHint: 'Optional. Encrypted, too.',
    lifetime: 'Erase everything after',
    lifetimes: [
      ['600000', '10 minutes'],
      ['3600000', '1 hour'],
      ['28800000', '8 hours'],
      ['86400000', '24 hours'],
    ],
    submit: 'Create room',
    tooMany: (ms: number) => `Many rooms were created from this network. Try again in ${duration(ms)}.`,
    yours: 'Your rooms on this device',
    open: 'Have an invite link?',
    link: 'Invite link',
    linkHint: 'Paste all of it, with everything after #.',
    linkInvalid: 'This is not a complete invite link. Ask for a new one, or copy it again with everything after #.',
    openLink: 'Open',
    untitled: 'Untitled room',
    left: (ms: number) => `${duration(ms)} left`,
    notLasting: 'This browser keeps nothing for pages: reloading or closing this tab leaves the room.',
  },

  join: {
    heading: (title: string | undefined) => (title ? `Join “${title}”` : 'Join an encrypted room'),
    invitedBy: (name: string) => `${name} invites you.`,
    lead: 'The link lets one person in, once. What you write is encrypted in your browser before it is sent.',
    submit: 'Join',
    incompleteTitle: 'This invite link is incomplete',
    incomplete: 'Part of it was lost on the way. Ask for it again and open all of it, with everything after #.',
    toStart: 'To the start page',
    used: 'This invite was used already: each link lets one person in. Ask for another one.',
    unknown: 'The room is gone: it was burned or its time is up. If it should still be there, ask for a new invite.',
    full: 'The room is full.',
    keyHeading: 'This link has another room key',
    keyText:
      'You are in this room already. Take over the key only if the link came from somebody in the room whom you trust, for example because the key was changed without you. Whoever made the link may read what you write with it.',
    takeKey: 'Take over the key',
    keepKeys: 'Open the room without it',
    alreadyIn: 'You are in this room already. The invite was not used.',
  },

  room: {
    untitled: 'Encrypted room',
    back: 'All rooms',
    encrypted: 'End-to-end encrypted',
    alone: 'Only you',
    people,
    timeLeft: (ms: number) => `${duration(ms)} left`,
    timeLeftLong: (ms: number) => `The room is erased in ${duration(ms)}`,
    ending: (ms: number) => `The room is erased in ${duration(ms)}.`,
    invite: 'Invite',
    peopleButton: 'People',
    serverButton: 'What the server sees',
    menu: 'Room menu',
    rename: 'Change your name…',
    retitle: 'Change the topic…',
    rotate: 'Change the room key…',
    forget: 'Leave the room…',
    burn: 'Burn the room…',
    log: 'Messages',
    emptyTitle: 'Nobody else is here yet',
    empty: 'Send an invite link over a channel you trust: it contains the key.',
    emptyWithPeople: 'No messages yet',
    offline: 'Not connected. Messages are kept and sent when the connection is back.',
    ownKeyExchanged: 'The server lists a key for you that is not yours. Others reject your messages: leave the room.',
    keysChanged: (names: string) =>
      `The server lists another key than before for ${names}. Messages in that name may be of somebody else: compare the digits again.`,
    rotationFailed: 'The change of the room key was not sent. Messages wait until it is sent or discarded.',
    waiting: 'Many messages in a short time: the rest is sent within a minute.',
    excludedTitle: 'The room key was changed without you',
    excluded: 'You cannot read or write new messages. To come back, open a new invite link from somebody in the room.',
    newest: 'Newest messages',
    unread: 'New',
    notFound: 'This device has no key for this room',
    notFoundText: 'It was opened in another browser, was left, or is gone. An invite link lets you in.',
  },

  notifications: {
    toggle: 'Notify me of messages',
    message: 'New message',
    open: 'In an encrypted room. Open it to read.',
    refused: 'The browser does not allow notifications. Allow them in the settings of the site, beside the address.',
    unsupported: 'This browser shows notifications only for pages with https.',
  },

  composer: {
    label: 'Message',
    placeholder: 'Encrypted message',
    send: 'Send',
    attach: 'Attach a file',
    tooLong: 'The message is too long. Shorten it, or send it as a file.',
    fileTooLarge: (name: string, most: string) => `${name} is too large: at most ${most}. Images are made smaller.`,
    fileFailed: (name: string) => `${name} could not be read.`,
    replyTo: (name: string) => `Reply to ${name}`,
    cancelReply: 'Cancel reply',
    preparing: (name: string) => `Preparing ${name}…`,
    drop: 'Drop to encrypt and send',
  },

  message: {
    you: 'You',
    unknown: 'Somebody',
    reply: 'Reply',
    copyText: 'Copy text',
    queued: 'Waiting to be sent',
    sending: 'Sending',
    sent: 'Sent',
    failed: 'Not sent',
    discard: 'Discard',
    replyGone: 'A message that is no longer here',
    save: (name: string) => `Save ${name}`,
    receiving: (done: number, all: number) => `Receiving, ${Math.round((100 * done) / all)} %`,
    sendingParts: (done: number, all: number) => `Sending, ${Math.round((100 * done) / all)} %`,
    openImage: (name: string) => `Open ${name}`,
    imageOf: (name: string) => `Image ${name}`,
  },

  event: {
    joined: (name: string) => `${name} joined`,
    youJoined: 'You joined',
    left: (name: string) => `${name} left`,
    renamed: (from: string, to: string) => `${from} is now ${to}`,
    titled: (name: string, title: string) => `${name} set the topic: ${title}`,
    rotated: (name: string) => `${name} changed the room key. Unused invite links no longer open new messages.`,
    excluded: (name: string, without: string) => `${name} changed the room key. ${without} cannot read new messages.`,
  },

  /** `sender`: a name, or undefined for one's own. */
  fault: {
    forged: (sender: string | undefined, count: number) =>
      `${some(count)} in ${sender ? `the name of ${sender}` : 'your name'} rejected: the signature is not ${sender ? 'theirs' : 'yours'}.`,
    damaged: (sender: string | undefined, count: number) =>
      `${some(count)} ${of(sender)} rejected: altered, or encrypted with another key.`,
    'key-missing': (_: string | undefined, count: number) =>
      `${number(count)} encrypted with a room key that this device does not have.`,
    replayed: (sender: string | undefined, count: number) =>
      `${some(count, 'repeated ')} ${of(sender)} rejected: the server sent it again.`,
    'old-key': (sender: string | undefined, count: number) =>
      `${some(count)} ${of(sender)} rejected: encrypted with a room key that no longer counts.`,
    'unknown-sender': (_: string | undefined, count: number) => `${some(count)} of nobody in this room rejected.`,
    'not-understood': (sender: string | undefined, count: number) =>
      `${some(count)} ${of(sender)} that this version of the page cannot show.`,
    'late-rotation': (sender: string | undefined, _: number) =>
      `A change of the room key ${sender ? `by ${sender}` : 'by you'} does not count: another one came first.`,
    missing: (sender: string | undefined, count: number) =>
      `${number(count)} ${of(sender)} did not arrive: lost, or withheld by the server.`,
  },

  people: {
    heading: 'People',
    you: 'you',
    invite: 'Invite someone',
    verified: 'Verified',
    verification: { verified: 'Verified', changed: 'The key changed', none: 'Not verified' },
    keyChanged: (name: string) =>
      `The server lists another key than before. Do not trust messages of ${name} until you have compared the digits again.`,
    withoutKey: 'Without the room key',
    withoutKeyHint:
      'They are listed by the server but have not shown that they have the key, or it was changed without them.',
    nameless: 'Name unknown',
    since: (time: string) => `since ${time}`,
    hasLeft: 'left',
    byYourLink: (label: string) => (label ? `by your link “${label}”` : 'by a link of yours'),
    fingerprint: 'Fingerprint',
    compare: (name: string) =>
      `Compare these digits with ${name} in person or by phone: on both screens the same digits belong to the same person. Then nobody, not even this server, can pose as ${name}.`,
    own: 'Others see these digits beside your name. Read them out so that they can verify you.',
    verify: 'The digits match',
    unverify: 'Remove the mark',
    verifiedText: 'You compared the digits, or they invited you by their own link.',
    remove: 'Remove from the conversation…',
    removeTitle: (name: string) => `Remove ${name}?`,
    removeText: (name: string) =>
      `Everybody else gets a new room key. ${name} keeps what they have read, cannot read anything new, and cannot send messages that others accept. Unused invite links stop working for new messages. The server goes on listing ${name}, who can still burn the room.`,
    removeConfirm: 'Change the key',
  },

  invite: {
    heading: 'Invite',
    lead: 'A link lets one person in, once. It contains the room key: send it over a channel you trust.',
    label: 'For whom',
    labelHint: 'Optional. Only you see it, to know later who came by which link.',
    create: 'Create link',
    link: 'Invite link',
    share: 'Share…',
    another: 'Another link',
    issued: 'Links you made',
    unused: 'not used yet',
    usedBy: (name: string) => `${name} came by it`,
    outdated: 'key changed since',
    unnamed: 'Link',
    revokeHint: 'To make unused links worthless, change the room key.',
    full: 'The room has reached its number of invites.',
  },

  rename: { heading: 'Change your name', submit: 'Change' },
  retitle: { heading: 'Change the topic', submit: 'Change', needed: 'Enter a topic.' },
  rotate: {
    heading: 'Change the room key?',
    text: 'Everybody who is here gets a new key. Unused invite links stop working for new messages, and whoever learned the old key cannot read on.',
    confirm: 'Change the key',
  },
  burn: {
    heading: 'Burn the room?',
    text: 'Everything is erased now, for everyone: messages, files, people and keys. This cannot be undone.',
    confirm: 'Burn',
  },
  forget: {
    heading: 'Leave the room?',
    text: 'The keys are removed from this device, and unsent messages with them. The room goes on for the others. To come back you need a new invite.',
    confirm: 'Leave',
  },

  ended: {
    burned: ['The room was burned', 'Messages, names and keys are erased, here and at the server.'],
    expired: ['The time of the room is up', 'Messages, names and keys are erased, here and at the server.'],
    unauthorized: [
      'You are no longer in this room',
      'The server does not accept this device any more. Its keys are removed.',
    ],
    forgotten: ['You left the room', 'Its keys are removed from this device.'],
    again: 'Create another room',
  },

  server: {
    heading: 'What the server sees',
    lead: 'This is all that the server has of this room, as it sends it to this page.',
    knows: 'It knows',
    room: 'Room',
    created: 'Created',
    erased: 'Erased',
    participants: 'Participants',
    messages: 'Messages',
    traffic: (messages: number, size: string) => `${messages}, ${size} of ciphertext`,
    network: 'Network',
    addresses: 'the address that each browser connects from',
    neverHas: 'It never has',
    never: [
      'what is written, names, the topic',
      'files, their names and types',
      'the room key and private keys',
      'invite links after #',
      'whom you verified',
    ],
    asNamed: 'Name it has',
    joined: 'Joined',
    publicKey: 'Public key',
    newest: 'Newest messages, as stored',
    none: 'None yet',
    sender: 'Sender',
    key: 'Key',
    chain: 'Chain',
    ciphertext: 'Ciphertext',
    youSee: 'You see',
    notText: 'a message of the page itself',
    padded: 'Sizes are rounded up by padding, so short texts all look alike.',
    raw: 'The newest message as JSON',
  },
} as const;
