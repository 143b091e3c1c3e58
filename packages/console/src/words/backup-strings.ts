/**
 * The texts of the screens of backups, in English, under the rules of strings.ts.
 */
export const BACKUPS = {
  schedules: 'Schedules',
  noSchedules: 'No schedule: backups are made by hand. `holdfast backup schedule set` makes one.',
  when: 'When (UTC)',
  target: 'Target',
  targetHelp: 'Its name, or directory: and a folder, such as directory:weekly',
  next: 'Next',
  lastGood: 'Last good one',
  remove: 'Remove',
  removeAbout: 'No further backups are made by this schedule. Those that exist stay.',
  removePlan: (name: string) => `${name} is removed.`,
  removed: 'The schedule is removed.',
  targets: 'Targets',
  noTargets: 'No target yet. `holdfast backup target set` makes one, and tries it.',
  place: 'Place',
  held: 'Backups',
  show: 'Show',
  of: (target: string) => `Backups in ${target}`,
  none: 'No backup of this cluster is there.',
  missing: (chunks: string) => `${chunks} chunks missing`,
  cut: 'State of',
  size: 'Size',
  sent: 'Sent for it',
  tenant: 'Tenant',
  tenantHelp: 'Empty: the whole cluster',
  whole: 'The whole cluster',
  backUp: 'Back up now',
  backUpAbout: 'Copies the state at one entry of the log, and the chunks that the target does not have.',
  plan: (chunks: string, bytes: string, backups: number) =>
    `${chunks} chunks (${bytes}) are backed up; the target has ${backups} ${backups === 1 ? 'backup' : 'backups'} and gets what it does not have.`,
  started: 'It runs: see Operations.',
  follow: 'A backup that runs is listed under',
  verify: 'Verify',
  verifyAbout: 'Reads everything of the backup back, opens it, and names what is damaged.',
  verifyPlan: (chunks: string, bytes: string) => `${chunks} chunks (${bytes}) are read.`,
} as const

export const MASTER_KEY = {
  title: 'Master key',
  sealing: 'Seals now',
  rotation: 'Rotation',
  quiet: 'none under way that this node knows of',
  to: (key: string) => `to ${key}.`,
  waits: (nodes: string) => `Waits for a restart with it in first place of: ${nodes}`,
  left: (secrets: string) => `${secrets} secrets left to seal again`,
  provider: (node: string) => `Key file of ${node}`,
  providers: {
    file: 'holds the keys themselves',
    vault: 'is opened by Vault Transit',
    kms: 'is opened by a key service over HTTP',
    pkcs11: 'is opened by a security module (PKCS#11)',
  },
  metadata: (node: string) => `Metadata on the disk of ${node}`,
  sealed: 'sealed',
  plain: 'not sealed',
  members: 'Master keys of the members',
  member: 'Member',
  keys: 'Keys, the newest first',
  one: 'the one that seals',
  about:
    'Master keys are changed on the machines of the nodes: `holdfast master-key add` on one, the file on all of them, and a restart of one after the other.',
} as const

export const ENCRYPTION = {
  title: 'Encryption',
  algorithm: 'Algorithm',
  version: 'Version of the data key',
  since: 'Since',
  exchange: 'Exchange the key',
  exchangeAbout:
    'New writes use another key at once; what is stored is sealed again, then the former key is destroyed.',
  exchangePlan: (versions: string, bytes: string) => `${versions} versions (${bytes}) are sealed again.`,
  master: 'Sealed under the master key',
  destroyed: 'none: its keys are destroyed',
  former: 'Former version of the key',
  chunksLeft: 'Chunks left to seal again',
  left: 'Left to seal again',
  customerKeys:
    'Objects with a key of their client (SSE-C) are sealed with that key too, which the cluster does not keep. Master keys are changed at the nodes: `holdfast master-key list` shows those of a node.',
  started: 'It runs: see Operations.',
} as const
