/**
 * Every check of the doctor: its name, what it looks at, what is an error and what a warning.
 *
 * Owns: names and order; docs/doctor.md is made from it. Knows nothing of: how anything is checked.
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
    looksAt: 'the file and the environment, as `holdfast config check` does',
    error: 'any fault; checks that need the configuration are left out then',
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
    looksAt: 'whether the node runs, asked through its socket in the data directory and the lock on it',
    error: 'it runs and does not answer, or answers that it is not ready, and why',
    warning: 'it runs another version than this program',
  },
  {
    id: 'data_dir',
    looksAt: 'owner and rights of `node.data_dir`',
    error: 'it is no directory, this user may not use it, or other users may write to it',
    warning: 'other users may look into it, or another user owns it',
  },
  {
    id: 'identity',
    looksAt: 'whose data is in the directory, as `identity.json` in it says',
    error: 'it belongs to another cluster or node, is damaged, or is missing beside data',
    warning: '',
  },
  {
    id: 'state_format',
    looksAt: 'the format of the state on disk',
    error: 'a newer or older build wrote it, or its pointer is damaged',
    warning: 'the state was distrusted and is to be fetched from other nodes',
  },
  {
    id: 'skipped_entries',
    looksAt: 'entries that this node skips by order of an operator, as `skipped-entries.json` says',
    error: 'the file cannot be understood, or is of another cluster',
    warning: '',
  },
  {
    id: 'master_key_file',
    looksAt: 'the file with the master key: there, private, well formed',
    error: 'any of these is not so',
    warning: '',
  },
  {
    id: 'master_key',
    looksAt: 'the fingerprints of the keys in it, against the data directory and the running node',
    error: 'the key of this data, or of the cluster, is not among them',
    warning: '',
  },
  {
    id: 'disk_space',
    looksAt: 'how full the disks of the data directory and of its `blobs/` are, in bytes and in files',
    error: 'from `disk.stop_writing` on, or no file can be made any more',
    warning: 'from `disk.stop_placing` on, or fewer than one in twenty files can be made',
  },
  {
    id: 'disk_speed',
    looksAt: 'how long a write takes until it is flushed, in a file that is removed again',
    error: 'it cannot be flushed at all',
    warning: 'much slower than a cluster needs, or faster than any disk that keeps what it flushed',
  },
  {
    id: 'filesystem',
    looksAt: 'the kind of file system under the data directory',
    error: '',
    warning: 'in memory, on a network, or the layer of a container',
  },
  {
    id: 'peer_tls',
    looksAt: 'certificates and key for the traffic between nodes',
    error:
      'missing where needed, unreadable, expired or not valid yet, for another node, of another authority, or a key that does not fit',
    warning: 'one expires within 30 days, or other users may read the key',
  },
  {
    id: 'listener_tls',
    looksAt: 'certificates and keys of the data and admin listeners, where they speak TLS',
    error: 'unreadable, expired or not valid yet, or a key that does not fit',
    warning: 'one expires within 30 days',
  },
  {
    id: 'listeners',
    looksAt: 'the addresses of the data, admin and peer listeners',
    error: 'another program listens there, or this machine has no such address',
    warning: 'the running node was started with other ones',
  },
  {
    id: 'peers',
    looksAt: 'every other member of `cluster.members`: does it answer, and would it hear this node',
    error: 'it does not answer, something else does, or it refuses this node, and why',
    warning: '',
  },
  {
    id: 'clock',
    looksAt: 'the clock of this machine against those of the peers that answer',
    error: 'further apart than `cluster.clock_skew_max`',
    warning: '',
  },
  {
    id: 'audit_log',
    looksAt:
      'the audit log of the running node: rows that wait to become a segment, segments, whether they lack copies by their rows (`holdfast audit verify` reads them)',
    error: 'a segment has copies on lost members alone',
    warning: 'a segment lacks a copy that is owed, or rows have waited for more than two hours',
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
    looksAt: 'whether memory, in which there are keys, can get to a disk: core files and swap',
    error: '',
    warning: 'core files are written, or swap is in use',
  },
] as const satisfies readonly CheckEntry[]

export type CheckId = (typeof CHECKS)[number]['id']
