/** Texts of the settings of the account and of the server. */

export const settingsTexts = {
  title: 'Settings',
  close: 'Close settings',
  sections: 'Sections',
  account: 'Your account',
  server: 'Server',
  adminsOnly: 'Only admins can see this',
  adminsOnlyHint: 'Ask an admin of this server.',
  loading: 'Loading…',
  retry: 'Try again',
  cancel: 'Cancel',
  save: 'Save',
  saved: 'Saved',
  copy: 'Copy',
  copied: 'Copied',
  done: 'Done',
  remove: 'Remove',
  more: 'Show more',
  admin: 'Admin',
  member: 'Member',
  you: 'You',

  profile: {
    title: 'Profile',
    name: 'Display name',
    nameHint: 'Others see it beside your messages, and mention you by it with @. 1 to 64 characters.',
    role: 'Role',
    adminRole: 'Admin (manages members, webhooks and settings)',
    memberRole: 'Member',
    signOut: 'Sign out',
    signOutHint: 'Signs out this browser, in all of its tabs.',
    signOutFailed:
      'This browser is signed out, but the service could not be told. End the session under Sessions later.',
    leave: 'Leave this server',
    leaveHint: 'Deletes your account. Your messages stay, with your name.',
    leaveTitle: 'Leave this server?',
    leaveText:
      'Your account and all of your sessions end, and you are no longer in any private channel. Your messages stay. An ' +
      'admin would have to add you again.',
  },

  password: {
    title: 'Password',
    hint: 'We mail you a link to set a new password. All other sessions end when you do.',
    send: 'Mail me a link',
    sent: (email: string) => `If ${email} is your email here, a mail with a link is on its way.`,
    askAdmin: 'This server sends no mail. An admin can set a new password for you under Members.',
    adminHint:
      'This server sends no mail. Set your own password here. All of your sessions end, and you sign in again.',
    set: 'Set the password',
  },

  sessions: {
    title: 'Sessions',
    hint: 'Where you are signed in. End what you do not know, then change your password.',
    current: 'This browser',
    signedIn: 'Signed in',
    lastUsed: 'last used',
    until: 'ends',
    end: 'End',
    endLabel: (device: string) => `End the session of ${device}`,
    endOthers: 'End all others',
    ended: (count: number) => (count === 1 ? '1 session ended' : `${count} sessions ended`),
    everywhere: 'Sign out everywhere',
    everywhereText: 'All of your sessions end, also this one.',
    device: (browser: string, system: string) => (system ? `${browser} on ${system}` : browser),
    unknownDevice: 'Unknown device',
  },

  notifications: {
    title: 'Notifications',
    hint: 'For this browser, while the page is open in a tab.',
    about: 'Notify me about',
    everything: 'All messages',
    mentions: 'Mentions and direct messages',
    nothing: 'Nothing',
    blocked:
      'Your browser blocks notifications of this page. Allow them in the settings of the site, beside the address.',
    unsupported: 'This browser shows notifications only for pages with https.',
    refused: 'The browser did not allow notifications.',
    test: 'Show an example',
    exampleTitle: 'Ada in General',
    exampleText: 'This is what a notification looks like.',
  },
} as const;
