/**
 * Every check of the doctor: its name, what it examines, what is an error and what a warning.
 *
 * Owns: names and order; docs/doctor.md is generated from it. Knows nothing of: the implementation of the checks.
 */
export interface CheckEntry {
  readonly id: string
  readonly looksAt: string
  readonly error: string
  readonly warning: string
}

export const CHECKS = [
  {
    id: 'configuration',
    looksAt: 'the file and the environment, as `holdfast config check --settings-only` does',
    error: 'any fault; checks that need the configuration are then skipped',
    warning: '',
  },
  {
    id: 'node_version',
    looksAt: 'the version of Node.js',
    error: 'older than this build needs',
    warning: '',
  },
  {
    id: 'node',
    looksAt: 'whether the node runs, by its socket in the data directory and the lock on the directory',
    error: 'it runs but does not answer, or it reports that it is not ready, with the reasons',
    warning: 'it runs a version other than that of this program',
  },
  {
    id: 'data_dir',
    looksAt: 'owner and permissions of `node.data_dir`',
    error:
      'it is not a directory, this user cannot use it, or other users can write to it, which refuses a start',
    warning: 'other users can read it, until the next start closes it, or another user owns it',
  },
  {
    id: 'identity',
    looksAt: 'the cluster and node to which the data belongs, by `identity.json` in the directory',
    error: 'it belongs to another cluster or node, is damaged, or is missing beside data',
    warning: '',
  },
  {
    id: 'state_format',
    looksAt: 'the format of the state on disk',
    error: 'a newer or older build wrote it, or its pointer is damaged',
    warning: 'the state is quarantined; the node fetches it from other nodes',
  },
  {
    id: 'skipped_entries',
    looksAt: 'entries that this node skips by order of an operator, by `skipped-entries.json`',
    error: 'the file cannot be parsed, or it belongs to another cluster',
    warning: '',
  },
  {
    id: 'master_key_file',
    looksAt:
      'the file with the master key: present, private, well formed, of the provider that is set; the provider is not asked',
    error: 'one of these conditions is not met',
    warning: '',
  },
  {
    id: 'master_key',
    looksAt: 'the fingerprints of the keys in that file, against the data directory and the running node',
    error: 'the key of this data, or of the cluster, is not in the file',
    warning: '',
  },
  {
    id: 'disk_space',
    looksAt: 'how full the disks of the data directory and of its `blobs/` are, in bytes and in files',
    error:
      'usage has reached `disk.stop_writing` and `disk.stop_writing_free`, or no more files can be created',
    warning:
      'usage has reached `disk.stop_placing` and `disk.stop_placing_free`, or less than 5% of the files are left to create',
  },
  {
    id: 'disk_speed',
    looksAt: 'how long writing and flushing takes, measured in a temporary file',
    error: 'the file cannot be written or flushed',
    warning: 'much slower than a cluster needs, or faster than any disk that makes flushed data durable',
  },
  {
    id: 'filesystem',
    looksAt: 'the kind of file system under the data directory',
    error: '',
    warning: 'it is in memory, on a network, or the layer of a container',
  },
  {
    id: 'blob_directories',
    looksAt: 'whether each directory of `node.blob_directories` is there, and on a disk of its own',
    error: 'one does not exist or cannot be read: its disk is not mounted',
    warning:
      'two of them, or one and the data directory, are on one file system: a disk that fails takes both',
  },
  {
    id: 'peer_tls',
    looksAt: 'certificates and key for the traffic between nodes',
    error:
      'missing where needed, unreadable, expired or not valid yet, for another node, of another authority, or the key does not match',
    warning: 'one expires within 30 days, or other users can read the key',
  },
  {
    id: 'listener_tls',
    looksAt:
      'certificates and keys of the data and admin listeners, the authorities of certificates of clients; which of them use plain HTTP',
    error:
      'unreadable, expired or not valid yet, the key does not match, no certificate of a client can count, or other machines reach a listener over plain HTTP that the configuration does not allow',
    warning:
      'one expires within 30 days, `client_ca` holds what is no good authority or that of the nodes, or other machines reach a listener over plain HTTP',
  },
  {
    id: 'listeners',
    looksAt: 'the addresses of the data, admin and peer listeners',
    error: 'another program listens there, or this machine has no such address',
    warning: 'the running node was started with other addresses',
  },
  {
    id: 'webhook_targets',
    looksAt: 'the origins that `notifications.allow_origins` opens',
    error: '',
    warning: 'an entry opens its origin to all tenants',
  },
  {
    id: 'peers',
    looksAt: 'every other member of `cluster.members`: whether it answers and accepts this node',
    error: 'it does not answer, another program answers, or it refuses this node, with the reason',
    warning: 'before the first start of this node: nothing listens there yet',
  },
  {
    id: 'clock',
    looksAt: 'the clock of this machine against those of the peers that answer',
    error: 'they differ by more than `cluster.clock_skew_max`',
    warning: '',
  },
  {
    id: 'audit_log',
    looksAt:
      'the audit log of the running node: rows that wait to become a segment, and the copies of segments according to their rows (`holdfast audit verify` reads the segments)',
    error: 'a segment has copies only on lost members',
    warning: 'a copy of a segment is missing, or rows have waited for more than two hours',
  },
  {
    id: 'backups',
    looksAt: 'the schedules of backups, by the state of the running node',
    error: 'a schedule has no good backup since its last time but one',
    warning:
      'the last backup of a schedule failed, a schedule is paused, as those of a restored cluster are, or an unfinished operation, such as a paused exchange of a data key, keeps a backup from starting',
  },
  {
    id: 'placement',
    looksAt: 'the zone and weight of the running node in the cluster, against its configuration',
    error: '',
    warning: 'an operator set others for the cluster',
  },
  {
    id: 'disks',
    looksAt: 'the disks of the running node, if it has several',
    error: 'one is out of use',
    warning: 'one has returned errors, or its flushes take long',
  },
  {
    id: 'open_files',
    looksAt: 'how many files and connections the node may have open',
    error: '',
    warning: 'fewer than 4096',
  },
  {
    id: 'memory',
    looksAt: 'the memory of the machine, or of the container around this process',
    error: '',
    warning: 'less than 512 MiB',
  },
  {
    id: 'keys_in_memory',
    looksAt: 'whether memory with keys in it can be written to a disk: core files and swap',
    error: '',
    warning: 'core files are written, or swap is in use',
  },
] as const satisfies readonly CheckEntry[]

export type CheckId = (typeof CHECKS)[number]['id']
