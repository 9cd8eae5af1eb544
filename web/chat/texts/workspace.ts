/** Texts of the workspace: sidebar, messages, composer, panels, dialogs. */

const isMac = typeof navigator !== 'undefined' && /Mac|iPhone|iPad/.test(navigator.platform);
const command = isMac ? '⌘' : 'Ctrl';

const plural = (count: number, one: string, many: string) => `${count} ${count === 1 ? one : many}`;
const listed = (names: readonly string[]) =>
  new Intl.ListFormat('en', { type: 'conjunction' }).format(
    names.length > 12 ? [...names.slice(0, 12), `${names.length - 12} more`] : names,
  );

export const texts = {
  appName: 'Chat',
  pageTitle: (mentions: number, place: string | undefined, server: string) =>
    `${mentions > 0 ? `(${mentions}) ` : ''}${place ? `${place} · ` : ''}${server}`,
  close: 'Close',
  cancel: 'Cancel',
  save: 'Save',
  create: 'Create',
  edit: 'Edit',
  delete: 'Delete',
  tryAgain: 'Try again',
  you: 'you',
  admin: 'Admin',
  bot: 'Bot',
  formerUser: 'a former user',
  notFound: 'Not found',
  connectionLost: (waiting: number) =>
    `Connection lost. Reconnecting…${waiting > 0 ? ` ${plural(waiting, 'message waits', 'messages wait')} to be sent.` : ''}`,

  // Sidebar
  sidebar: 'Channels and people',
  showSidebar: 'Show channels and people',
  hideSidebar: 'Hide channels and people',
  switchTo: 'Jump to…',
  switcherKeys: `${command} K`,
  switchLabel: 'Name of a channel or person',
  nobodyFound: 'Nothing has that name.',
  channels: 'Channels',
  newChannel: 'New channel',
  directMessages: 'Direct messages',
  newDirect: 'New direct message',
  unread: 'Unread',
  unreadForYou: (count: number) => `${count} for you`,
  ownMenu: 'Status and settings',
  status: { online: 'Online', away: 'Away', offline: 'Offline' },
  beOnline: 'Online',
  beAway: 'Away',
  notices: 'Desktop notifications',
  noticesBlocked: 'Notifications are blocked by the browser',
  shortcuts: 'Keyboard shortcuts',
  account: 'Account settings',
  administration: 'Administration',
  signOut: 'Sign out',
  signOutText: (waiting: number) =>
    `${plural(waiting, 'message has', 'messages have')} not been sent yet and will be lost.`,
  noPlace: 'There is no channel yet',

  // Place
  noSuchPlace: 'This channel does not exist or is private',
  noSuchPlaceHint: 'It may have been deleted. Ask a member to add you if it is private.',
  messagesIn: (name: string) => `Messages in ${name}`,
  messagesWith: (name: string) => `Messages with ${name}`,
  writeIn: (name: string) => `Message #${name}`,
  writeTo: (name: string) => `Message ${name}`,
  channelIntro: (name: string, created: string) => `This is the beginning of #${name}, created on ${created}.`,
  directIntro: (name: string) =>
    `This is the beginning of your conversation with ${name}. Only the two of you can read it.`,
  placeMenu: 'More options',
  mute: 'Mute',
  unmute: 'Unmute',
  editChannel: 'Edit channel',
  deleteChannel: 'Delete channel',
  deleteChannelText: (name: string) =>
    `Delete #${name} with all of its messages, files and webhooks? This cannot be undone.`,

  // Messages
  newLine: 'New',
  newMessages: (count: number) => plural(count, 'new message', 'new messages'),
  toNewest: 'Go to newest',
  messageBy: (name: string, time: string) => `${name}, ${time}`,
  messageActions: 'Message actions',
  edited: '(edited)',
  pinned: 'Pinned',
  react: 'Add reaction',
  emoji: 'Emoji',
  searchEmoji: 'Search emoji',
  noEmoji: 'No emoji of that name',
  insertEmoji: 'Insert an emoji',
  reactedWith: (reaction: string, names: readonly string[]) => `${listed(names)} reacted with ${reaction}`,
  replyInThread: 'Reply in thread',
  quote: 'Quote',
  more: 'More actions',
  pin: 'Pin to channel',
  unpin: 'Unpin',
  markUnread: 'Mark as unread',
  copyText: 'Copy text',
  copiedText: 'Text copied',
  copyLink: 'Copy link',
  copiedLink: 'Link copied',
  copyFailed: 'The browser did not allow copying.',
  showHistory: 'Show earlier versions',
  history: 'Versions of this message',
  currentVersion: 'Current',
  deleteMessage: 'Delete message',
  deleteMessageText: (text: string, replies: number) =>
    `${text ? `“${text}” will be deleted for everyone` : 'This message will be deleted for everyone'}${
      replies > 0 ? `, with its ${plural(replies, 'reply', 'replies')}` : ''
    }. This cannot be undone.`,
  messageDeleted: 'This message has been deleted.',
  editedMessageDeleted: 'The message you were editing has been deleted. What you typed is in the message box.',
  loadingQuote: 'Loading quoted message…',
  quoteDeleted: 'Quoted message was deleted',
  jumpToQuote: 'Go to quoted message',
  sentFile: 'Sent a file',
  replies: (count: number) => plural(count, 'reply', 'replies'),
  lastReply: (time: string) => `Last reply ${time}`,
  notSent: (error: string) => `Not sent. ${error}`,
  willBeSent: (error: string) => `Not sent yet, trying again. ${error}`,
  sendAgain: 'Send now',
  discard: 'Discard',
  announced: (name: string, text: string) => `${name}: ${text}`,
  noticeTitle: (name: string, channel: string) => `${name} in #${channel}`,

  // Composer
  send: 'Send',
  attach: 'Attach images or files',
  attached: 'Attached',
  mention: 'Mention someone',
  enterHint: 'Shift+Enter for a new line',
  sendsWhenUploaded: 'Sends when the upload is complete',
  dropHere: 'Drop to attach',
  removeQuote: 'Remove quote',
  removeFile: (name: string) => `Remove ${name}`,
  anImage: 'image',
  aFile: 'The file',
  uploading: (name: string) => `Uploading ${name}`,
  cancelUpload: (name: string) => `Cancel upload of ${name}`,
  retryUpload: (name: string) => `Upload ${name} again`,
  unreadableFile: 'The file could not be read.',
  refusedFile(name: string, reason: 'type' | 'empty' | 'file-size' | 'image-size') {
    if (reason === 'type')
      return `${name} has a type that cannot be sent. Images: JPG, PNG, WebP, SVG. Files: PDF, text, CSV, JSON, ZIP, Office. Others fit into a ZIP.`;
    if (reason === 'empty') return `${name} is empty.`;
    return `${name} is too large: ${reason === 'image-size' ? 'images may have 10' : 'files may have 25'} MB.`;
  },
  everyoneHint: (name: string) =>
    name === 'here' ? 'Notify everyone who is online' : 'Notify everyone in this channel',
  editMessage: 'Edit message',
  editHint: 'Enter to save, Esc to cancel',

  // Files
  openImage: (index: number, count: number) => (count > 1 ? `Open image ${index} of ${count}` : 'Open image'),
  imageOf: (index: number, count: number) => (count > 1 ? `Image ${index} of ${count}` : 'Image'),
  downloadImage: 'Download image',
  previousImage: 'Previous image',
  nextImage: 'Next image',
  download: (name: string) => `Download ${name}`,

  // Panels
  closePanel: 'Close panel',
  thread: 'Thread',
  threads: 'Unread threads',
  noThreads: 'No unread replies',
  noThreadsHint: 'Threads that you take part in appear here when others reply.',
  repliedBy: (count: number, name: string, time: string) =>
    `${plural(count, 'reply', 'replies')}, the last by ${name} ${time}`,
  inChannel: (name: string) => `#${name}`,
  repliesLabel: 'Replies',
  reply: 'Reply',
  writeReply: 'Reply…',
  pins: 'Pinned messages',
  noPins: 'Nothing is pinned yet',
  noPinsHint: 'Pin messages that people should find again, from the menu of a message.',
  people: 'People',
  privateNote: 'Only these people can see this channel: its members, and admins.',
  publicNote: 'Everyone on this server can read and write in this channel.',
  changeMembers: 'Change members',
  search: 'Search',
  searchLabel: 'Search messages',
  searchPlaceholder: 'Words, a name, or part of a file name',
  searchHint: 'Finds every message that contains all of the words, also within words.',
  filterPlace: 'In',
  filterAuthor: 'From',
  filterFrom: 'Since',
  filterTo: 'Until',
  anywhere: 'Anywhere',
  anyone: 'Anyone',
  hereOption: (name: string) => `Here (${name})`,
  withPerson: (name: string) => `With ${name}`,
  found: (count: number, isFull: boolean) =>
    isFull ? `The newest ${count} messages found` : `${plural(count, 'message', 'messages')} found`,
  showMore: 'Show more',
  nothingFound: 'Nothing found',
  nothingFoundHint: 'Try fewer or shorter words, or remove filters.',

  // Dialogs
  channelName: 'Name',
  channelTopic: 'Topic',
  channelTopicHint: 'What is it about? Optional.',
  privateChannel: 'Private: only members and admins can see it',
  members: (count: number) => plural(count, 'member', 'members'),
  findPerson: 'Find a person',
  adminsSeeAll: 'Admins can see every private channel.',
  formatHint: 'Format with **bold**, *italic*, ~~struck~~, `code`, > quotes and ``` blocks of code.',
  shortcutList: [
    [[command, 'K'], 'Jump to a channel or person'],
    [[command, 'Shift', 'F'], 'Search messages'],
    [['Alt', '↑ ↓'], 'Previous or next channel'],
    [['Alt', 'Shift', '↑ ↓'], 'Previous or next unread channel'],
    [['Enter'], 'Send'],
    [['Shift', 'Enter'], 'New line'],
    [['↑'], 'Edit your last message, in an empty field'],
    [['↑ ↓'], 'Move between messages, outside of the field'],
    [['Esc'], 'Close the panel, or mark the channel as read'],
    [['?'], 'Show this list'],
  ],
} as const;
