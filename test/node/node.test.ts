/**
 * A group of nodes, event by event, in a virtual world: real core, driver, log and transport port; the test moves time.
 */
import t from 'tap'
import { Condition } from '../../cluster/base/types.ts'
import { command, textOf } from '../helpers/memory-state-machine.ts'
import { HEARTBEAT_MS, NodeWorld } from '../helpers/node-world.ts'

async function codeOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise
    return 'none'
  } catch (error) {
    if (error instanceof Condition) return error.code
    throw error
  }
}

t.test('propose', async (t) => {
  t.test('answers with the reply at every node once the command is applied there', async (t) => {
    const world = await NodeWorld.started()
    for (const [i, nodeId] of world.nodeIds.entries()) {
      t.equal(await world.run(world.append(nodeId, nodeId)), i + 1)
      t.strictSame(world.texts(nodeId).at(-1), nodeId, 'applied here when it resolves')
    }
    await world.untilEqual()
    for (const nodeId of world.nodeIds) t.strictSame(world.texts(nodeId), ['n1', 'n2', 'n3'])
    await world.stopAll()
  })

  t.test(
    'puts the proposals of one turn, and those that arrive while the log is busy, into one entry',
    async (t) => {
      const world = await NodeWorld.started()
      await world.untilEqual()
      const leader = world.leaderOrDie()
      const before = world.node(leader).status().lastIndex
      const replies = world.nodeIds.flatMap((nodeId) =>
        Array.from({ length: 100 }, (_, i) => world.append(nodeId, `${nodeId}.${i}`)),
      )
      t.same(
        (await world.run(Promise.all(replies))).sort((a, b) => a - b),
        Array.from({ length: 300 }, (_, i) => i + 1),
      )
      const entries = world.node(leader).status().lastIndex - before
      t.ok(entries <= 3, `300 proposals of three nodes travelled in ${entries} entries`)
      await world.stopAll()
    },
  )

  t.test(
    'takes effect once when the leader dies with the proposal in its log and the caller repeats it',
    async (t) => {
      const world = await NodeWorld.started()
      const leader = world.leaderOrDie()
      const [client = '', other = ''] = world.followers
      const last = world.node(client).status().lastIndex
      const reply = world.append(client, 'once')
      await world.clock.runUntil(() => world.node(other).status().lastIndex > last, { limitMs: 5_000 })
      t.strictSame(world.texts(client), [], 'in the logs, applied nowhere')
      world.crash(leader)
      await world.run(reply)
      await world.run(world.append(client, 'after'))
      await world.start(leader)
      await world.untilEqual()
      for (const nodeId of world.nodeIds) {
        t.strictSame(
          world.texts(nodeId).filter((text) => text === 'once'),
          ['once'],
        )
      }
      await world.stopAll()
    },
  )

  t.test('puts proposals that arrive while the log is busy into the next entry', async (t) => {
    const world = await NodeWorld.started()
    await world.untilEqual()
    const leader = world.leaderOrDie()
    const before = world.node(leader).status().lastIndex
    const replies: Promise<number>[] = []
    for (let i = 0; i < 100; i += 1) {
      replies.push(world.append(leader, String(i)))
      await world.clock.advance(0.1)
    }
    await world.run(Promise.all(replies))
    const entries = world.node(leader).status().lastIndex - before
    t.ok(entries >= 3 && entries <= 12, `100 proposals within 10 ms travelled in ${entries} entries`)
    await world.stopAll()
  })

  t.test('asks the new leader again when the old one accepted the proposal and died with it', async (t) => {
    const world = await NodeWorld.started()
    const leader = world.leaderOrDie()
    const [client = ''] = world.followers
    const before = world.node(leader).status().lastIndex
    // Calls pass, messages do not: the leader accepts entries that it cannot replicate.
    world.network.dropRate = 1
    const reply = world.append(client, 'again')
    await world.clock.runUntil(() => world.node(leader).status().lastIndex > before, { limitMs: 1_000 })
    await world.clock.advance(5)
    world.crash(leader)
    world.network.dropRate = 0
    t.equal(await world.run(reply), 1)
    await world.stopAll()
  })

  t.test('fails with commit_unknown, not no_leader, when the answer of the leader was lost', async (t) => {
    const world = await NodeWorld.started()
    const leader = world.leaderOrDie()
    const [client = '', other = ''] = world.followers
    const before = world.node(leader).status().lastIndex
    world.network.dropRate = 1
    const outcome = codeOf(world.append(client, 'answer lost'))
    await world.clock.runUntil(() => world.node(leader).status().lastIndex > before, { limitMs: 1_000 })
    world.crash(leader)
    world.crash(other)
    t.equal(await world.run(outcome), 'commit_unknown')
    await world.stopAll()
  })

  t.test('refuses with no_leader when the proposal cannot have left this node', async (t) => {
    const world = await NodeWorld.started()
    const leader = world.leaderOrDie()
    const [client = '', other = ''] = world.followers
    world.crash(leader)
    world.crash(other)
    await world.clock.runUntil(() => world.node(client).readiness().ready === false, { limitMs: 10_000 })
    t.equal(await world.run(codeOf(world.append(client, 'lost'))), 'no_leader')
    t.match(world.node(client).readiness().reasons.join(), /No leader is known/)
    await world.stopAll()
  })

  t.test(
    'fails with commit_unknown when the proposal may be in a log and is not applied in time',
    async (t) => {
      const world = await NodeWorld.started()
      const leader = world.leaderOrDie()
      const outcome = codeOf(world.append(leader, 'unknown'))
      for (const follower of world.followers) world.network.isolate(follower)
      t.equal(await world.run(outcome), 'commit_unknown')
      world.network.heal()
      await world.untilReady()
      await world.run(world.append(leader, 'after'))
      await world.untilEqual()
      t.ok(world.texts(leader).filter((text) => text === 'unknown').length <= 1)
      await world.stopAll()
    },
  )

  t.test('refuses with slow_down beyond the proposals that one node may have in flight', async (t) => {
    const world = await NodeWorld.started({ node: { limits: { proposalsPendingMax: 8 } } })
    const outcomes = Array.from({ length: 12 }, (_, i) => codeOf(world.append('n1', String(i))))
    const codes = await world.run(Promise.all(outcomes))
    t.strictSame(
      codes.slice(0, 8),
      Array.from({ length: 8 }, () => 'none'),
    )
    t.strictSame(
      codes.slice(8),
      Array.from({ length: 4 }, () => 'slow_down'),
    )
    await world.stopAll()
  })

  t.test('stays within the limits of one entry', async (t) => {
    const limits = { batchProposalsMax: 10, batchBytesMax: 200 }
    const world = await NodeWorld.started({ node: { limits } })
    await world.untilEqual()
    const leader = world.leaderOrDie()
    await world.run(
      Promise.all(Array.from({ length: 100 }, (_, i) => world.append(leader, `text ${i} padded`))),
    )
    const batches = world.process(leader).machine.batches.flatMap(({ entries }) => entries)
    for (const { commands } of batches) {
      t.ok(commands.length <= limits.batchProposalsMax)
      t.ok(commands.reduce((sum, { length }) => sum + length, 0) <= limits.batchBytesMax)
    }
    await world.stopAll()
  })
})

t.test('readBarrier', async (t) => {
  t.test('sees at every node every write acknowledged before', async (t) => {
    const world = await NodeWorld.started({ maxDelayMs: 20 })
    for (let i = 0; i < 10; i += 1) {
      for (const writer of world.nodeIds) {
        await world.run(world.append(writer, `${writer} ${i}`))
        const seen = world.nodeIds.map(async (reader) => {
          await world.node(reader).readBarrier()
          return world.texts(reader).includes(`${writer} ${i}`)
        })
        t.strictSame(await world.run(Promise.all(seen)), [true, true, true])
      }
    }
    await world.stopAll()
  })

  t.test('refuses at a leader that was cut off, instead of serving stale data', async (t) => {
    const world = await NodeWorld.started()
    const old = world.leaderOrDie()
    await world.run(world.append(old, 'before'))
    world.network.isolate(old)
    const outcome = codeOf(world.node(old).readBarrier())
    await world.clock.runUntil(() => world.leader !== null && world.leader !== old, { limitMs: 10_000 })
    await world.run(world.append(world.leaderOrDie(), 'behind its back'))
    t.match(await world.run(outcome), /no_leader|no_quorum/)
    world.network.heal()
    await world.untilReady()
    await world.run(world.node(old).readBarrier())
    t.strictSame(world.texts(old).slice(-1), ['behind its back'])
    await world.stopAll()
  })

  t.test('removes a leader that was cut off', async (t) => {
    const world = await NodeWorld.started()
    const old = world.leaderOrDie()
    world.network.isolate(old)
    const outcome = codeOf(world.node(old).readBarrier())
    await world.clock.runUntil(() => world.node(old).status().role !== 'leader', { limitMs: 5_000 })
    t.match(await world.run(outcome), /no_leader|no_quorum/)
    await world.stopAll()
  })

  t.test('shares rounds: a thousand callers need few', async (t) => {
    const world = await NodeWorld.started()
    const [reader = ''] = world.followers
    const readers = Array.from({ length: 1_000 }, () => world.node(reader).readBarrier())
    const sample = (): number | undefined =>
      world
        .node(reader)
        .metrics()
        .find(({ name }) => name === 'holdfast_raft_readers_waiting')?.value
    t.equal(sample(), 1_000)
    await world.run(Promise.all(readers), 4 * HEARTBEAT_MS)
    t.equal(sample(), 0)
    await world.stopAll()
  })
})

t.test('failure', async (t) => {
  t.test('of the log mutes the node, fails its callers, and leaves the others serving', async (t) => {
    const world = await NodeWorld.started()
    const leader = world.leaderOrDie()
    const [other = ''] = world.followers
    world.disk(leader).fault = new Error('EIO')
    const outcome = codeOf(world.append(leader, 'on a broken disk'))
    const cause = await world.run(world.node(leader).failed)
    t.match(cause.message, /EIO/)
    t.equal(await outcome, 'commit_unknown')
    t.equal(await codeOf(world.append(leader, 'later')), 'shutting_down')
    t.equal(await codeOf(world.node(leader).readBarrier()), 'shutting_down')
    t.match(world.node(leader).readiness(), { ready: false, reasons: [/EIO/] })
    await world.run(world.append(other, 'without it'))
    await world.stopAll()
  })

  t.test('of the log takes the node out of every majority', async (t) => {
    const world = await NodeWorld.started()
    const leader = world.leaderOrDie()
    const [failing = '', other = ''] = world.followers
    world.disk(failing).fault = new Error('EIO')
    void codeOf(world.append(leader, 'on a failing disk'))
    await world.run(world.node(failing).failed)
    world.crash(other)
    const isOver = (): boolean => world.node(leader).status().role !== 'leader'
    await world.clock.runUntil(isOver, { limitMs: 10_000 })
    await world.clock.advance(5_000)
    t.ok(isOver(), 'it gives no vote either')
    await world.stopAll()
  })

  t.test('of apply stops the node before it can answer', async (t) => {
    const world = await NodeWorld.started()
    world.state('n2').fault = new Error('a bug')
    const outcome = codeOf(world.append('n2', 'poison'))
    t.match((await world.run(world.node('n2').failed)).message, /a bug/)
    t.equal(await outcome, 'commit_unknown')
    await world.stopAll()
  })

  t.test('of a disk that was emptied: the node is notified, and its vote does not count', async (t) => {
    const world = await NodeWorld.started()
    await world.run(world.append('n1', 'kept'))
    await world.untilEqual()
    const leader = world.leaderOrDie()
    const [wiped = '', other = ''] = world.followers
    world.crash(wiped)
    world.wipe(wiped)
    await world.start(wiped)
    await world.clock.runUntil(
      () => /Another data directory/.test(world.node(wiped).readiness().reasons.join()),
      {
        limitMs: 20_000,
      },
    )
    world.crash(leader)
    await world.clock.advance(5_000)
    t.not(world.node(other).status().role, 'leader', 'one node with a log is no majority of three')
    t.not(world.node(wiped).status().role, 'leader')
    await world.start(leader)
    await world.untilEqual().catch(() => undefined)
    t.strictSame(world.texts(other), ['kept'])
    await world.stopAll()
  })
})

t.test('stop', async (t) => {
  t.test('hands leadership over, so that writing continues without an election time-out', async (t) => {
    const world = await NodeWorld.started()
    const leader = world.leaderOrDie()
    await world.stop(leader)
    const startedOne = world.clock.now()
    const [other = ''] = world.running
    await world.run(world.append(other, 'next'))
    t.ok(world.clock.now() - startedOne < 200, `took ${world.clock.now() - startedOne} ms`)
    await world.stopAll()
  })

  t.test('finishes running calls and refuses new ones with shutting_down', async (t) => {
    const world = await NodeWorld.started()
    const [nodeId = ''] = world.followers
    const node = world.node(nodeId)
    const under = node.propose(command('append in time'))
    const stopped = node.stop()
    t.equal(await codeOf(node.propose(command('append too late'))), 'shutting_down')
    t.equal(textOf(await world.run(under)), '1')
    await world.run(stopped)
    t.equal(node.stop(), node.stop(), 'a second stop is the same stop')
    await world.stopAll()
  })

  t.test('leaves no timer that would keep the process alive', async (t) => {
    const world = await NodeWorld.started()
    for (const nodeId of world.nodeIds) await world.stop(nodeId)
    t.equal(world.clock.pending, 0)
  })
})
