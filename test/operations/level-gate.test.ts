/** A command that some member may not know yet is not proposed, for any caller. */
import t from 'tap'
import { withLevelGate } from '../../src/commands/level-gate.ts'
import { COMMAND_LEVELS } from '../../src/state-machine/command-levels.ts'
import type { Command } from '../../src/state-machine/commands.ts'
import type { Propose } from '../../src/commands/propose.ts'
import { followMembers, type FollowingParts } from '../../src/workers/following-members.ts'
import { MemoryServices } from '../helpers/memory-services.ts'
import { singleNodeMembership, singleNodeStatus } from '../helpers/membership-samples.ts'

t.test('every command waits for its level', async (t) => {
  for (const [type, level] of Object.entries(COMMAND_LEVELS)) {
    for (const state of [level - 1, level]) {
      let proposed = 0
      const propose: Propose = async () => {
        proposed += 1
        return { ok: true, value: null } as never
      }
      const gated = withLevelGate(propose, { reachesLevel: async (wanted) => state >= wanted })
      const asked = gated({ type } as Command)
      if (state === level) await asked
      else await t.rejects(asked, { name: 'Refusal', code: 'precondition_failed' }, type)
      t.equal(proposed, state === level ? 1 : 0, `${type} at level ${state}`)
    }
  }
})

t.test('the members are founded as soon as every member supports it, without an error before', async (t) => {
  const memory = await MemoryServices.start(t)
  const parts = (stateLevel: number): FollowingParts => ({
    nodeId: 'n1',
    membership: { ...singleNodeMembership('n1'), local: () => singleNodeStatus('n1', { stateLevel }) },
    isJobRunner: () => true,
    state: memory.reader,
    propose: memory.services.propose,
    founders: [
      {
        nodeId: 'n1',
        peerAddress: '127.0.0.1:1',
        zone: 'z1',
        weight: 1,
        dataAddress: null,
        adminAddress: null,
      },
    ],
    self: { version: '1.0.0', dataAddress: 'http://127.0.0.1:2', adminAddress: 'http://127.0.0.1:3' },
  })
  memory.featureLevel = 1
  t.equal(await followMembers(parts(1)), false)
  t.equal(memory.proposals, 0)
  memory.featureLevel = 2
  await followMembers(parts(2))
  t.equal(memory.proposals, 1)
})
