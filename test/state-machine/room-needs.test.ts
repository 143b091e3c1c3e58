/**
 * Which commands full disks refuse, and which they must never refuse.
 */
import t from 'tap'
import type { CommandType } from '../../src/state-machine/commands.ts'
import { ROOM_NEEDS } from '../../src/state-machine/room-needs.ts'
import { encodeReply } from '../../src/commands/command-codec.ts'
import { createPropose } from '../../src/commands/propose.ts'

/** The commands that free space: a deletion, its steps, the collection, the sessions that it waits for. */
const WAYS_OUT: readonly CommandType[] = [
  ...([
    'deleteObject',
    'deleteObjects',
    'deleteBucket',
    'abortUpload',
    'expire',
    'releaseDiscarded',
  ] as const),
  ...(['disableTenant', 'deleteTenant', 'eraseTenant', 'shredTenant', 'advanceOperation'] as const),
  ...(['collectChunks', 'dropsDone', 'openSession', 'advanceSession', 'closeSession'] as const),
  ...(['trimAudit', 'startMembership', 'stepMembership', 'introduceMember', 'placeMember'] as const),
]
const STORES: readonly CommandType[] = [
  ...(['putObject', 'copyObject', 'createUpload', 'putPart', 'completeUpload'] as const),
  ...(['createBucket', 'createTenant', 'setObjectTags', 'setBucketPolicy'] as const),
]

t.test('the need of a command', async (t) => {
  t.test('is relief for every command that frees space', async (t) => {
    for (const type of WAYS_OUT) t.equal(ROOM_NEEDS[type], 'relief', type)
  })

  t.test('is growth for commands that store data of a client', async (t) => {
    for (const type of STORES) t.equal(ROOM_NEEDS[type], 'growth', type)
  })

  t.test('is passed with the command, not inside it', async (t) => {
    const needs: unknown[] = []
    const propose = createPropose({
      propose: async (_, how) => {
        needs.push(how?.need)
        return encodeReply({ ok: true, value: null })
      },
    })
    await propose({ type: 'deleteBucket', tenantId: 'acme', name: 'films' })
    await propose({ type: 'haltCollection', reason: 'a test' })
    t.same(needs, ['relief', 'upkeep'])
  })
})
