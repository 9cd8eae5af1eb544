/** The most used emoji with their names and words to find them by; the first are common reactions. */

export interface Emoji {
  readonly sign: string;
  readonly name: string;
  /** The name and other words, in lower case. */
  readonly words: string;
}

/** One a line: sign, name, and after a semicolon other words. */
const LIST = `
👍 thumbs up; yes like agree ok +1
👎 thumbs down; no dislike -1
❤️ heart; love red
😂 tears of joy; laugh lol funny
🎉 party; tada celebrate congratulations hooray
🙏 thanks; please pray folded hands
👀 eyes; look watching
✅ done; check yes tick
❌ no; cross wrong
🔥 fire; hot lit
🚀 rocket; ship launch
💯 hundred; perfect score
👏 applause; clap bravo
🙌 raised hands; praise hooray
💪 strong; muscle arm
🤔 thinking; hmm
😄 smile; happy grin
😅 sweat; relief phew
😍 love; heart eyes
😎 cool; sunglasses
😢 sad; cry tear
😮 surprised; wow open mouth
😬 grimace; awkward
🤯 mind blown; exploding head
🫡 salute; yes sir
🤝 handshake; deal agreement
👋 wave; hello bye hi
💡 idea; light bulb
⚠️ warning; caution
🐛 bug; insect
📌 pin; pushpin
☕ coffee; tea break hot
😀 grin; happy
😁 beam; happy teeth
😆 laugh; squint haha
🤣 rolling on the floor; rofl laugh
😊 blush; smile happy
🙂 slight smile
🙃 upside down; irony silly
😉 wink
😇 angel; halo innocent
🥰 adore; love hearts
😘 kiss; blow
😋 yummy; tasty delicious
😛 tongue; playful
😜 wink with tongue; crazy joke
🤪 zany; crazy silly
🤗 hug
🤭 giggle; oops
🤫 quiet; shush secret
🤐 zipped mouth; secret silent
🤨 raised eyebrow; sceptical doubt
😐 neutral; meh
😑 expressionless
😶 no mouth; speechless
😏 smirk
😒 unamused; annoyed
🙄 eye roll
😌 relieved; calm
😔 pensive; sad
😪 sleepy
😴 asleep; zzz
😷 mask; ill sick
🤒 fever; ill sick thermometer
🤕 hurt; bandage
🤢 nauseated; sick disgusting
🥵 hot; heat
🥶 cold; freezing
🥳 partying; birthday celebrate
🤓 nerd; glasses
🧐 monocle; inspect
😕 confused
😟 worried
🙁 frown; sad
😳 flushed; embarrassed
🥺 pleading; puppy eyes
😨 fearful; scared
😰 anxious; sweat
😭 sob; crying
😱 scream; horror
😖 confounded
😞 disappointed
😩 weary; tired
😫 tired; exhausted
🥱 yawn; bored
😤 huff; triumph steam
😠 angry
😡 rage; furious angry red
🤬 cursing; swear angry
💀 skull; dead
💩 poo
🤡 clown
👻 ghost
👽 alien
🤖 robot; bot
🙈 see no evil; monkey
🙊 speak no evil; monkey
💔 broken heart
🧡 orange heart; love
💛 yellow heart; love
💚 green heart; love
💙 blue heart; love
💜 purple heart; love
🖤 black heart; love
✌️ victory; peace
🤞 fingers crossed; luck hope
🤟 love you
🤘 rock on; horns
🤙 call me; shaka
👌 ok hand; perfect fine
👈 left; point
👉 right; point
👆 up; point above
👇 down; point below
☝️ index up; one
✋ raised hand; stop high five
🫶 heart hands; love
✍️ writing; hand
🤷 shrug; dunno
🤦 facepalm
🙋 hand up; question me
🙇 bow; sorry
🏃 running; hurry
🧑‍💻 developer; computer laptop
✨ sparkles; shine new
⭐ star; favourite
🌟 glowing star
💥 boom; collision
💤 sleep; zzz
💬 speech; comment chat
❓ question
❗ exclamation; important
‼️ very important; double exclamation
➕ plus; add
➖ minus; remove
♻️ recycle; refactor
🔴 red circle; stop
🟡 yellow circle
🟢 green circle; go
🚧 construction; in progress
🛑 stop; sign
🚨 alarm; incident emergency
🏆 trophy; win
🥇 gold medal; first
🎯 target; bullseye goal
🎁 gift; present
🎂 cake; birthday
🎈 balloon; party
🥂 cheers; champagne toast
🍻 beers; cheers
🍕 pizza; food
🍰 cake slice; dessert
🍪 cookie; biscuit
🍿 popcorn; watching
🌈 rainbow
☀️ sun; weather
🌧️ rain; weather
❄️ snow; frozen cold
🌍 world; earth globe
🐱 cat; pet
🐶 dog; pet
🦄 unicorn
🐢 turtle; slow
🌱 seedling; plant grow
💰 money; bag
📈 chart up; growth
📉 chart down; loss
📅 calendar; date
⏰ alarm clock; time
⏳ hourglass; waiting
🔒 lock; secure
🔑 key
🔗 link; chain
🔧 wrench; fix tool
🛠️ tools; build fix
📦 package; release box
📝 note; memo write
📎 paper clip; attachment
📣 megaphone; announcement
🔔 bell; notify
🔍 search; magnifier
💻 laptop; computer
📞 phone; call
✉️ mail; letter email
🏠 home; house
🎵 music; note`;

export const EMOJI: readonly Emoji[] = LIST.trim()
  .split('\n')
  .map((line) => {
    const [sign = '', rest = ''] = line.split(/ (.*)/);
    return { sign, name: rest.split(';', 1)[0] ?? '', words: rest.replace(';', '').toLowerCase() };
  });

/** Emoji with names in which each typed word begins a word. */
export function findEmoji(typed: string): readonly Emoji[] {
  const terms = typed.toLowerCase().split(/\s+/).filter(Boolean);
  return EMOJI.filter(({ words }) => terms.every((each) => ` ${words}`.includes(` ${each}`)));
}
