/** The settings of the machine: this node, its cluster, its disk, repair. */
import type { Setting } from './setting.ts'
import { SECOND, DAY, MIB } from './units.ts'

const NODE_ID = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/

export const MACHINE_SETTINGS = [
  {
    name: 'node.id',
    kind: 'text',
    pattern: NODE_ID,
    fallback: null,
    meaning: 'the name of this machine, unique in the cluster',
  },
  {
    name: 'node.data_dir',
    kind: 'path',
    fallback: null,
    meaning: 'the folder for all data of this node; relative to this file',
  },
  {
    name: 'node.zone',
    kind: 'text',
    pattern: NODE_ID,
    fallback: 'default',
    meaning: 'the failure zone of this node: a rack, a room, a site',
  },
  {
    name: 'node.witness_dir',
    kind: 'path',
    fallback: null,
    optional: true,
    meaning: 'a folder in memory that detects a disk that went back; default: /dev/shm or $XDG_RUNTIME_DIR',
  },
  {
    name: 'node.raft_thread',
    kind: 'boolean',
    fallback: 'false',
    meaning:
      'whether consensus, its log and the connections to other nodes have a thread of their own, so that no request can delay a heartbeat',
  },
  {
    name: 'cluster.id',
    kind: 'text',
    pattern: /^[A-Za-z0-9-]{8,64}$/,
    fallback: null,
    meaning: 'the id of the cluster: the same on every node, different from that of any other cluster',
  },
  {
    name: 'cluster.members',
    kind: 'members',
    fallback: null,
    meaning: 'the first members: a list of {id, peer, zone, weight}',
  },
  {
    name: 'cluster.heartbeat',
    kind: 'duration',
    fallback: '100ms',
    min: 10,
    max: 5 * SECOND,
    meaning: 'the interval of the heartbeats of a leader',
  },
  {
    name: 'cluster.election_timeout',
    kind: 'duration',
    fallback: '1s',
    min: 100,
    max: 60 * SECOND,
    meaning:
      'how long a voter waits without contact to the leader before an election; at least ten heartbeats',
  },
  {
    name: 'cluster.log_keep_entries',
    kind: 'integer',
    fallback: '250000',
    min: 16,
    max: 10_000_000,
    meaning: 'the number of applied log entries that are kept on disk for nodes that were away',
  },
  {
    name: 'cluster.log_keep_bytes',
    kind: 'bytes',
    fallback: '256MiB',
    min: 65_536,
    max: 64 * 1024 * MIB,
    meaning: 'the most bytes of applied log entries that are kept',
  },
  {
    name: 'cluster.log_pin_bytes',
    kind: 'bytes',
    fallback: '4GiB',
    min: 65_536,
    max: 1024 * 1024 * MIB,
    meaning:
      'the size up to which the log on disk grows for members that catch up; beyond it, or on a full disk, they get a snapshot',
  },
  {
    name: 'cluster.collect_after',
    kind: 'duration',
    fallback: '30s',
    min: 0,
    max: 7 * 24 * 3600 * SECOND,
    meaning:
      'how long a download can continue after its object was deleted or replaced; the space is free after twice this time',
  },
  {
    name: 'cluster.promote_after',
    kind: 'duration',
    fallback: '10s',
    min: SECOND,
    max: 3600 * SECOND,
    meaning: 'how long a new node keeps up without a gap before it gets its vote; lower it only for trials',
  },
  {
    name: 'cluster.clock_skew_max',
    kind: 'duration',
    fallback: '5s',
    min: 2 * SECOND,
    max: DAY,
    meaning:
      'the largest difference between the clock of this node and that of the majority; beyond it the node transfers leadership and is not ready. The doctor uses it too',
  },
  {
    name: 'disk.stop_placing',
    kind: 'percent',
    fallback: '85%',
    min: 1,
    max: 100,
    meaning: 'the disk usage from which new copies go to other nodes if those are equally suitable',
  },
  {
    name: 'disk.stop_placing_free',
    kind: 'bytes',
    fallback: '60GiB',
    min: 64 * MIB,
    max: 16 * 1024 * 1024 * MIB,
    meaning: 'with so many bytes free, disk.stop_placing is not reached, whatever share of the disk they are',
  },
  {
    name: 'disk.stop_writing',
    kind: 'percent',
    fallback: '92%',
    min: 1,
    max: 100,
    meaning:
      'the disk usage from which this node accepts no new copies; it still reads, removes and compacts',
  },
  {
    name: 'disk.stop_writing_free',
    kind: 'bytes',
    fallback: '30GiB',
    min: 64 * MIB,
    max: 16 * 1024 * 1024 * MIB,
    meaning:
      'with so many bytes free, disk.stop_writing is not reached, whatever share of the disk they are. At most disk.stop_placing_free',
  },
  {
    name: 'disk.reserve',
    kind: 'percent',
    fallback: '95%',
    min: 1,
    max: 100,
    meaning:
      'the disk usage from which this node refuses every request that stores something, including small objects and metadata; requests that free space continue. At least disk.stop_writing',
  },
  {
    name: 'disk.reserve_free',
    kind: 'bytes',
    fallback: '15GiB',
    min: 64 * MIB,
    max: 16 * 1024 * 1024 * MIB,
    meaning:
      'with so many bytes free, disk.reserve is not reached, whatever share of the disk they are. At most disk.stop_writing_free',
  },
  {
    name: 'repair.scrub_every',
    kind: 'duration',
    fallback: '7d',
    min: 60 * SECOND,
    max: 365 * DAY,
    meaning: 'the longest time between two reads of a copy by the scrub of this node',
  },
] as const satisfies readonly Setting[]
