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
    advice:
      'Set node.id to the name of this machine in lower-case letters, digits and hyphens, for example node.id: n1.',
  },
  {
    name: 'node.data_dir',
    kind: 'path',
    fallback: null,
    meaning: 'the folder for all data of this node; relative to this file',
    advice:
      'Set node.data_dir to a folder on the disk of this node that no other node uses, for example node.data_dir: /var/lib/holdfast.',
  },
  {
    name: 'node.blob_directories',
    kind: 'paths',
    fallback: null,
    optional: true,
    meaning:
      'the folders for blobs, each on a disk of its own; relative to this file; default: `blobs` in node.data_dir',
    advice:
      'List 1 to 64 folders in node.blob_directories, each on a disk of its own, for example node.blob_directories: [/mnt/disk1/holdfast, /mnt/disk2/holdfast].',
  },
  {
    name: 'node.zone',
    kind: 'text',
    pattern: NODE_ID,
    fallback: 'default',
    meaning: 'the failure zone of this node: a rack, a room, a site',
    advice:
      'Set node.zone to what fails together with this machine, in lower-case letters, digits and hyphens, for example node.zone: rack-1.',
  },
  {
    name: 'node.witness_dir',
    kind: 'path',
    fallback: null,
    optional: true,
    meaning: 'a folder in memory that detects a disk that went back; default: /dev/shm or $XDG_RUNTIME_DIR',
    advice:
      'Set node.witness_dir to a folder that loses its contents when the machine restarts, for example node.witness_dir: /dev/shm.',
  },
  {
    name: 'node.seal_metadata',
    kind: 'boolean',
    fallback: 'false',
    meaning:
      'whether everything that this node keeps of the metadata is sealed on its disk; counts from the first start of a data directory',
    advice:
      'Set node.seal_metadata to true before the first start of a data directory, or to false, for example node.seal_metadata: true.',
  },
  {
    name: 'node.raft_thread',
    kind: 'boolean',
    fallback: 'false',
    meaning:
      'whether consensus, its log and the connections to other nodes have a thread of their own, so that no request can delay a heartbeat',
    advice:
      'Set node.raft_thread to true for a thread of its own, or to false, for example node.raft_thread: true.',
  },
  {
    name: 'node.edge_threads',
    kind: 'integer',
    fallback: '0',
    min: 0,
    max: 16,
    meaning:
      'the number of threads that handle the connections of the data listener, its TLS and the parsing of its requests; 0: the main thread does',
    advice:
      'Set node.edge_threads to a number of threads, or to 0 for none beside the main thread, for example node.edge_threads: 2.',
  },
  {
    name: 'node.direct_io_from',
    kind: 'bytes',
    fallback: '1MiB',
    min: 0,
    max: 4 * MIB,
    meaning:
      'the size from which chunks are written with direct I/O, without the page cache: uploads of large bodies take less processor time and drive nothing out of the cache, and the first read after an upload comes from the disk; 0: all go through the cache',
    advice:
      'Set node.direct_io_from to a size, or to 0 where large bodies are mostly read soon after their upload, for example node.direct_io_from: 1MiB.',
  },
  {
    name: 'backup.directory',
    kind: 'path',
    fallback: null,
    optional: true,
    meaning:
      'the folder below which backups to a directory are written: one file system that every node has mounted. Absent: no backup to a directory',
    advice:
      'Set backup.directory to a folder of a file system that every node has mounted, for example backup.directory: /mnt/backups.',
  },
  {
    name: 'cluster.id',
    kind: 'text',
    pattern: /^[A-Za-z0-9-]{8,64}$/,
    fallback: null,
    meaning: 'the id of the cluster: the same on every node, different from that of any other cluster',
    advice:
      'Set cluster.id to 8 to 64 letters, digits and hyphens, the same on every node, for example cluster.id: photos-production.',
  },
  {
    name: 'cluster.members',
    kind: 'members',
    fallback: null,
    meaning: 'the first members: a list of {id, peer, zone, weight}',
    advice:
      'List the first nodes in cluster.members, each with its id and the address of its peer listener, for example cluster.members: [{id: n1, peer: "10.0.0.1:9002", zone: rack-1}].',
  },
  {
    name: 'cluster.heartbeat',
    kind: 'duration',
    fallback: '100ms',
    min: 10,
    max: 5 * SECOND,
    meaning:
      'the interval of the heartbeats of a leader; while nothing is written it sends every third of them',
    advice:
      'Set cluster.heartbeat to a duration of at most a tenth of cluster.election_timeout, for example cluster.heartbeat: 100ms.',
  },
  {
    name: 'cluster.election_timeout',
    kind: 'duration',
    fallback: '1s',
    min: 100,
    max: 60 * SECOND,
    meaning:
      'how long a voter waits without contact to the leader before an election; at least ten heartbeats',
    advice:
      'Set cluster.election_timeout to a duration of at least ten heartbeats, for example cluster.election_timeout: 1s.',
  },
  {
    name: 'cluster.log_keep_entries',
    kind: 'integer',
    fallback: '250000',
    min: 16,
    max: 10_000_000,
    meaning: 'the number of applied log entries that are kept on disk for nodes that were away',
    advice:
      'Set cluster.log_keep_entries to a number of entries, for example cluster.log_keep_entries: 250000.',
  },
  {
    name: 'cluster.log_keep_bytes',
    kind: 'bytes',
    fallback: '256MiB',
    min: 65_536,
    max: 64 * 1024 * MIB,
    meaning: 'the most bytes of applied log entries that are kept',
    advice: 'Set cluster.log_keep_bytes to a size, for example cluster.log_keep_bytes: 256MiB.',
  },
  {
    name: 'cluster.log_pin_bytes',
    kind: 'bytes',
    fallback: '4GiB',
    min: 65_536,
    max: 1024 * 1024 * MIB,
    meaning:
      'the size up to which the log on disk grows for members that catch up; beyond it, or on a full disk, they get a snapshot',
    advice:
      'Set cluster.log_pin_bytes to a size that the disk has room for, for example cluster.log_pin_bytes: 4GiB.',
  },
  {
    name: 'cluster.collect_after',
    kind: 'duration',
    fallback: '30s',
    min: 0,
    max: 7 * 24 * 3600 * SECOND,
    meaning:
      'how long a download can continue after its object was deleted or replaced; the space is free after twice this time',
    advice:
      'Set cluster.collect_after to a duration that the longest download may take, for example cluster.collect_after: 30s.',
  },
  {
    name: 'cluster.promote_after',
    kind: 'duration',
    fallback: '10s',
    min: SECOND,
    max: 3600 * SECOND,
    meaning: 'how long a new node keeps up without a gap before it gets its vote; lower it only for trials',
    advice: 'Set cluster.promote_after to a duration, for example cluster.promote_after: 10s.',
  },
  {
    name: 'cluster.clock_skew_max',
    kind: 'duration',
    fallback: '5s',
    min: 2 * SECOND,
    max: DAY,
    meaning:
      'the largest difference between the clock of this node and that of the majority; beyond it the node transfers leadership and is not ready. The doctor uses it too',
    advice:
      'Set cluster.clock_skew_max to a duration that the clocks of a healthy cluster never differ by, for example cluster.clock_skew_max: 5s.',
  },
  {
    name: 'disk.stop_placing',
    kind: 'percent',
    fallback: '85%',
    min: 1,
    max: 100,
    meaning: 'the disk usage from which new copies go to other nodes if those are equally suitable',
    advice:
      'Set disk.stop_placing to a percentage with its sign, at most that of disk.stop_writing, for example disk.stop_placing: 85%.',
  },
  {
    name: 'disk.stop_placing_free',
    kind: 'bytes',
    fallback: '60GiB',
    min: 64 * MIB,
    max: 16 * 1024 * 1024 * MIB,
    meaning: 'with so many bytes free, disk.stop_placing is not reached, whatever share of the disk they are',
    advice:
      'Set disk.stop_placing_free to a size of at least disk.stop_writing_free, for example disk.stop_placing_free: 60GiB.',
  },
  {
    name: 'disk.stop_writing',
    kind: 'percent',
    fallback: '92%',
    min: 1,
    max: 100,
    meaning:
      'the disk usage from which this node accepts no new copies; it still reads, removes and compacts',
    advice:
      'Set disk.stop_writing to a percentage with its sign, from that of disk.stop_placing to that of disk.reserve, for example disk.stop_writing: 92%.',
  },
  {
    name: 'disk.stop_writing_free',
    kind: 'bytes',
    fallback: '30GiB',
    min: 64 * MIB,
    max: 16 * 1024 * 1024 * MIB,
    meaning:
      'with so many bytes free, disk.stop_writing is not reached, whatever share of the disk they are. At most disk.stop_placing_free',
    advice:
      'Set disk.stop_writing_free to a size from disk.reserve_free to disk.stop_placing_free, for example disk.stop_writing_free: 30GiB.',
  },
  {
    name: 'disk.reserve',
    kind: 'percent',
    fallback: '95%',
    min: 1,
    max: 100,
    meaning:
      'the disk usage from which this node refuses every request that stores something, including small objects and metadata; requests that free space continue. At least disk.stop_writing',
    advice:
      'Set disk.reserve to a percentage with its sign, at least that of disk.stop_writing, for example disk.reserve: 95%.',
  },
  {
    name: 'disk.reserve_free',
    kind: 'bytes',
    fallback: '15GiB',
    min: 64 * MIB,
    max: 16 * 1024 * 1024 * MIB,
    meaning:
      'with so many bytes free, disk.reserve is not reached, whatever share of the disk they are. At most disk.stop_writing_free',
    advice:
      'Set disk.reserve_free to a size of at most disk.stop_writing_free, for example disk.reserve_free: 15GiB.',
  },
  {
    name: 'repair.scrub_every',
    kind: 'duration',
    fallback: '7d',
    min: 60 * SECOND,
    max: 365 * DAY,
    meaning: 'the longest time between two reads of a copy by the scrub of this node',
    advice:
      'Set repair.scrub_every to the duration within which the scrub reads each copy once, for example repair.scrub_every: 7d.',
  },
] as const satisfies readonly Setting[]
