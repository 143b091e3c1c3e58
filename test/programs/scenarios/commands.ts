/**
 * The commands of the scenario files.
 *
 * Owns: one function for each command, and its usage line. Knows nothing of: files, traces; the network writes them.
 * Rule: a command does one thing that could happen to a real group, or only prints.
 */
import { forgedMessage, logFrom } from './forged.ts'
import { baseText, dataOf, entriesText, hardStateText, messageText, messageWord } from './notation.ts'
import { TracedNetwork, statusText } from './traced-network.ts'
import { indexed, routeFrom } from './words.ts'
import type { Words } from './words.ts'
import type { Configuration, Message, NodeId, RaftLimits } from '../../../cluster/raft/types.ts'

/** The state on which the commands of one file work. */
export interface ScenarioState {
  network: TracedNetwork | null
  /** Messages that are delayed longer than others, by their given name. */
  readonly held: Map<string, Message[]>
}

interface CommandKind {
  readonly usage: string
  readonly run: (words: Words, state: ScenarioState) => void
}

/** A command that needs a group. */
function inGroup(
  usage: string,
  run: (network: TracedNetwork, words: Words, state: ScenarioState) => void,
): CommandKind {
  return { usage, run: (words, state) => run(networkOf(state), words, state) }
}

export const COMMANDS: Readonly<Record<string, CommandKind>> = {
  group: {
    usage:
      'group a b c [learners=l] [outgoing=..] [spares=d] [election=10] [timeouts=10,13,16] [entry= message= inflight= window= backlog=]',
    run: (words, state) => {
      if (state.network !== null) throw new Error('there is a group already')
      state.network = groupFrom(words)
    },
  },

  // --- Time ------------------------------------------------------------------------------------
  tick: inGroup('tick a [b ..] [times]', (network, words) => {
    const times = words.lastNumber(1)
    const members = membersFrom(network, words.rest())
    for (const id of members) for (let i = 0; i < times; i += 1) network.input(id, { type: 'tick' })
  }),
  campaign: inGroup('campaign a: ticks until it asks for votes', (network, words) => {
    const id = memberFrom(network, words.need('a member'))
    const ticksMax = 2 * network.electionTicks
    for (let i = 0; i < ticksMax; i += 1) {
      const effects = network.input(id, { type: 'tick' })
      const asks = effects.some((effect) => effect.type === 'roleChanged' || effect.type === 'send')
      if (asks && network.status(id).role !== 'follower') return
    }
    throw new Error(`${id} does not campaign within two election time-outs`)
  }),
  elect: inGroup('elect a: time passes until it leads and everything settles', (network, words) => {
    network.elect(memberFrom(network, words.need('a member')))
  }),
  time: inGroup('time [times]: all tick, everything settles', (network, words) => {
    network.tickAll(words.number('the times', 1))
  }),
  'tick-gap': inGroup('tick-gap a', (network, words) => {
    network.input(memberFrom(network, words.need('a member')), { type: 'tickGap' })
  }),

  // --- What clients and operators ask ----------------------------------------------------------
  propose: inGroup('propose a x [y ..]', (network, words) => {
    const id = memberFrom(network, words.need('a member'))
    for (const word of words.rest()) network.proposeNamed(id, word, dataOf(word))
  }),
  read: inGroup('read a r1 [r2 ..]', (network, words) => {
    const id = memberFrom(network, words.need('a member'))
    for (const name of words.rest()) network.readNamed(id, name)
  }),
  configure: inGroup('configure a voters=a,b,d [learners=e] [expected=7]', (network, words) => {
    const id = memberFrom(network, words.need('a member'))
    const target = { voters: words.optionList('voters'), learners: words.optionList('learners') }
    network.configureNamed(id, target, words.optionNumber('expected'))
  }),
  transfer: inGroup('transfer a [to=b]', (network, words) => {
    const id = memberFrom(network, words.need('a member'))
    network.input(id, { type: 'transferLeadership', target: words.option('to') })
  }),
  compact: inGroup('compact a through', (network, words) => {
    network.compact(memberFrom(network, words.need('a member')), words.number('the index'))
  }),
  unreachable: inGroup('unreachable a peer: its transport gave up', (network, words) => {
    const id = memberFrom(network, words.need('a member'))
    network.input(id, { type: 'peerUnreachable', peer: words.need('the peer') })
  }),

  // --- Messages --------------------------------------------------------------------------------
  deliver: inGroup('deliver [from>to] [Word] [first n|last n] [reversed]', (network, words) => {
    const isReversed = words.option('reversed') === 'yes'
    const picked = pick(network, words)
    for (const message of isReversed ? picked.toReversed() : picked) network.deliver(message)
  }),
  drop: inGroup('drop [from>to] [Word] [first n|last n]', (network, words) => {
    for (const message of pick(network, words)) network.note(`${routeText(message)} is lost`)
  }),
  duplicate: inGroup('duplicate [from>to] [Word] [first n|last n]', (network, words) => {
    const copies = pick(network, words)
    network.messages.push(...copies, ...copies.map((message) => ({ ...message })))
    for (const message of copies) network.note(`${routeText(message)} is there twice`)
  }),
  hold: inGroup('hold name [from>to] [Word] [first n|last n]', (network, words, { held }) => {
    const name = words.need('a name')
    const messages = pick(network, words)
    held.set(name, [...(held.get(name) ?? []), ...messages])
    for (const message of messages) network.note(`${routeText(message)} is slow`)
  }),
  release: inGroup('release name', (network, words, { held }) => {
    const name = words.need('a name')
    const messages = held.get(name)
    if (messages === undefined) throw new Error(`nothing is held as ${name}`)
    held.delete(name)
    for (const message of messages) network.deliver(message)
  }),
  forge: inGroup('forge from>to Word t1 [fields]', (network, words) => {
    network.deliver(forgedMessage(words))
  }),

  // --- Disks, state machines, processes --------------------------------------------------------
  disk: inGroup('disk a [n|all]: confirms the next writes', (network, words) => {
    const id = memberFrom(network, words.need('a member'))
    const { walQueue } = network.node(id)
    const times = words.take(/^all$/) === null ? words.number('the number of writes', 1) : walQueue.length
    if (times > walQueue.length || times === 0)
      throw new Error(`${id} has ${walQueue.length} writes under way`)
    for (let i = 0; i < times; i += 1) network.confirmWal(id)
  }),
  'disk-slow': inGroup('disk-slow a: settle leaves its writes alone', (network, words) => {
    network.node(memberFrom(network, words.need('a member'))).isDiskSlow = true
  }),
  'disk-normal': inGroup('disk-normal a', (network, words) => {
    network.node(memberFrom(network, words.need('a member'))).isDiskSlow = false
  }),
  apply: inGroup('apply a: its state machine takes what it was given', (network, words) => {
    const id = memberFrom(network, words.need('a member'))
    if (network.node(id).applyQueue.length === 0) throw new Error(`${id} has nothing to apply`)
    while (network.node(id).applyQueue.length > 0) network.apply(id)
  }),
  pull: inGroup('pull a: the snapshot it pulls arrives', (network, words) => {
    const id = memberFrom(network, words.need('a member'))
    if (network.node(id).fetch === null) throw new Error(`${id} pulls no snapshot`)
    network.finishFetch(id)
  }),
  'pull-fails': inGroup('pull-fails a', (network, words) => {
    const id = memberFrom(network, words.need('a member'))
    if (network.node(id).fetch === null) throw new Error(`${id} pulls no snapshot`)
    network.node(id).fetch = null
    network.input(id, { type: 'snapshotFailed' })
  }),
  crash: inGroup('crash a [survivors=n]: n unconfirmed writes reached the disk', (network, words) => {
    const id = memberFrom(network, words.need('a member'))
    network.crash(id, words.optionNumber('survivors') ?? 0)
    network.note(`${id} crashes, its disk holds ${diskText(network, id)}`)
  }),
  restart: inGroup('restart a', (network, words) => {
    const id = memberFrom(network, words.need('a member'))
    network.restart(id)
    network.note(statusText(network, id))
  }),
  log: inGroup('log a terms=1,1,2 [term=2] [vote=b] [configuration=2:a,b,d/a,b,c+l]', (network, words) => {
    const id = memberFrom(network, words.need('a member'))
    const terms = words.optionList('terms')
    const configuration = words.option('configuration')
    const configurations = configuration === null ? [] : [indexed(configuration)]
    const entries = logFrom(terms, new Map(configurations.map(({ index, text }) => [index, text])))
    const term = words.optionNumber('term') ?? Number(terms.at(-1) ?? 0)
    network.plant(id, { entries, term, vote: words.option('vote') })
  }),

  // --- Partitions ------------------------------------------------------------------------------
  cut: inGroup('cut a>b [c-d ..]: one way, or both', (network, words) => {
    for (const link of words.rest()) {
      const { from, to } = routeFrom(link.replace('-', '>'))
      network.cut(memberFrom(network, from), memberFrom(network, to))
      if (link.includes('-')) network.cut(to, from)
    }
  }),
  isolate: inGroup('isolate a', (network, words) => {
    network.isolate(memberFrom(network, words.need('a member')))
  }),
  heal: inGroup('heal', (network) => {
    network.heal()
  }),
  settle: inGroup('settle: all messages, writes and applies, until nothing is left', (network) => {
    network.settle()
  }),

  // --- Only looking ----------------------------------------------------------------------------
  status: inGroup('status [a ..]', (network, words) => {
    const ids = words.rest()
    for (const id of ids.length === 0 ? network.nodes.keys() : membersFrom(network, ids))
      network.note(statusText(network, id))
  }),
  'raft-log': inGroup('raft-log [a ..]', (network, words) => {
    const ids = words.rest()
    for (const id of ids.length === 0 ? network.nodes.keys() : membersFrom(network, ids)) {
      const { log } = network.node(id)
      const begin = log.base.index === 0 ? '' : `after ${baseText(log.base)} `
      network.note(`${id}: ${begin}${entriesText(log.entries)}`)
    }
  }),
  disks: inGroup('disks [a ..]', (network, words) => {
    const ids = words.rest()
    for (const id of ids.length === 0 ? network.nodes.keys() : membersFrom(network, ids))
      network.note(`${id}: ${diskText(network, id)}`)
  }),
  machines: inGroup('machines: what was applied', (network) => {
    for (const { id, machine } of network.nodes.values())
      network.note(`${id}: applied ${machine.index}/${machine.term}`)
  }),
  progress: inGroup('progress a', (network, words) => {
    const { peers } = network.status(memberFrom(network, words.need('a member')))
    if (peers.length === 0) network.note('it leads nobody')
    for (const { nodeId, state, matchIndex, silentTicks } of peers)
      network.note(`${nodeId}: ${state}, match ${matchIndex}, silent for ${silentTicks}`)
  }),
  messages: inGroup('messages', (network) => {
    for (const message of network.messages) network.note(routeText(message))
    if (network.messages.length === 0) network.note('no message is under way')
  }),
}

function networkOf({ network }: ScenarioState): TracedNetwork {
  if (network === null) throw new Error('there is no group yet')
  return network
}

function memberFrom(network: TracedNetwork, word: string): NodeId {
  if (!network.nodes.has(word)) throw new Error(`there is no member ${word}`)
  return word
}

function membersFrom(network: TracedNetwork, words: readonly string[]): readonly NodeId[] {
  if (words.length === 0) throw new Error('a member is missing')
  return words.map((word) => memberFrom(network, word))
}

function groupFrom(words: Words): TracedNetwork {
  const electionTicks = words.optionNumber('election') ?? 10
  const learners = words.optionList('learners')
  const outgoing = words.optionList('outgoing')
  const spares = words.optionList('spares')
  const chosen = words.optionList('timeouts').map(Number)
  const limits = limitsFrom(words)
  const voters = words.rest()
  if (voters.length === 0) throw new Error('a group has at least one voter')
  const ids = [...new Set([...voters, ...outgoing, ...learners, ...spares])]
  // Far enough apart for the first to be elected before the second campaigns.
  const timeouts = ids.map((id, i) => [id, chosen[i] ?? electionTicks + ((3 * i) % electionTicks)] as const)
  const configuration: Configuration = { voters, learners, outgoing }
  return new TracedNetwork({ configuration, spares, electionTicks, timeouts: new Map(timeouts), limits })
}

function limitsFrom(words: Words): Partial<RaftLimits> {
  const limits = {
    entryBytesMax: words.optionNumber('entry'),
    messageBytesMax: words.optionNumber('message'),
    inflightMessagesMax: words.optionNumber('inflight'),
    inflightBytesMax: words.optionNumber('window'),
    uncommittedBytesMax: words.optionNumber('backlog'),
  }
  return Object.fromEntries(Object.entries(limits).filter(([, limit]) => limit !== null))
}

/** Takes the messages that the words describe out of the network. */
function pick(network: TracedNetwork, words: Words): readonly Message[] {
  const route = words.take(/^\w+>\w+$/)
  const kind = words.take(/^[A-Z]\w+$/)
  const end = words.take(/^(first|last)$/)
  const count = end === null ? Number.POSITIVE_INFINITY : words.number('how many')
  const matching = network.messages.filter((message) => {
    const isOnRoute = route === null || route === `${message.from}>${message.to}`
    return isOnRoute && (kind === null || kind === messageWord(message))
  })
  const picked = new Set(end === 'last' ? matching.slice(-count) : matching.slice(0, count))
  if (picked.size === 0) {
    throw new Error(`no such message is under way; there are: ${network.messages.map(routeText).join('; ')}`)
  }
  network.messages = network.messages.filter((message) => !picked.has(message))
  return [...picked]
}

function routeText(message: Message): string {
  return `${message.from}>${message.to} ${messageText(message)}`
}

function diskText(network: TracedNetwork, id: NodeId): string {
  const { disk } = network.node(id)
  const begin = disk.base.index === 0 ? '' : ` after ${baseText(disk.base)}`
  return `${hardStateText(disk.hardState)}${begin} ${entriesText(disk.entries)}`
}
