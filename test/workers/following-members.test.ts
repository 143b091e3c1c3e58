/** A node reports what its file says, also while the cluster holds something else for it, and says each thing once. */
import t from 'tap'
import type { KnownMembers, Place } from '../../cluster/index.ts'
import { memberIn, membersOf } from '../../src/state-machine/members/members.ts'
import { followMembers, type FollowingParts } from '../../src/workers/following-members.ts'
import { MemoryServices } from '../helpers/memory-services.ts'
import { singleNodeMembership } from '../helpers/membership-samples.ts'

t.test(
  'followMembers: a weight that an operator set holds over the file, which is still reported',
  async (t) => {
    const memory = await MemoryServices.start(t)
    const peerAddress = '127.0.0.1:1'
    const founder = {
      nodeId: 'n1',
      peerAddress,
      zone: 'z1',
      weight: 1,
      dataAddress: null,
      adminAddress: null,
    }
    let known: KnownMembers | null = null
    const parts = (ownPlace: Place | null): FollowingParts => ({
      nodeId: 'n1',
      membership: {
        ...singleNodeMembership('n1'),
        ownPlace,
        setMembers: async (latest) => {
          known = latest
        },
      },
      isJobRunner: () => true,
      state: memory.reader,
      propose: memory.services.propose,
      founders: [founder],
      self: { version: '1.0.0', dataAddress: 'http://127.0.0.1:2', adminAddress: 'http://127.0.0.1:3' },
    })
    await memory.change({ type: 'foundMembers', members: [founder] })
    await followMembers(parts(null))
    const set = { type: 'placeMember', nodeId: 'n1', zone: null, weight: 5, copiesNeeded: 2 } as const
    await memory.change(set)
    const { proposals } = memory
    await followMembers(parts(null))
    t.equal(memory.proposals, proposals, 'its file has not changed')
    t.match(known, { members: [{ weight: 5, file: { zone: 'z1', weight: 1 } }] })
    const edited = { peerAddress, zone: 'z2', weight: 3 }
    await followMembers(parts(edited))
    const file = { zone: 'z2', weight: 3 }
    t.match(memberIn(membersOf(memory.reader), 'n1'), { zone: 'z2', weight: 5, placement: { file } })
    const reported = memory.proposals
    await followMembers(parts(edited))
    t.equal(memory.proposals, reported, 'it is reported once')
  },
)
