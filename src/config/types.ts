/**
 * The effective configuration of one node: bounded, frozen, typed. Times in ms, sizes in bytes.
 *
 * Owns: the shape. Names follow the configuration file with its sections; see settings.ts for units, bounds and defaults.
 */
import type { DiskThresholds, Member } from '../../cluster/index.ts'

/** The limits of one caller. 0: no limit. */
export interface CallerLimits {
  readonly requestsPerSecond: number
  /** Bytes of bodies that the caller sends. */
  readonly bytesInPerSecond: number
  /** Bytes of bodies that the caller gets. */
  readonly bytesOutPerSecond: number
  /** Of each rate: so many seconds of it may come at once after a quiet time. */
  readonly burstSeconds: number
  readonly requestsAtOnce: number
  /** Requests whose body is an object or a part. */
  readonly uploadsAtOnce: number
}

/** What opens the lines of the key file. Absolute paths; null: not given. URLs end without a slash. */
export type KeyProviderSettings =
  | { readonly kind: 'file' }
  | {
      readonly kind: 'vault'
      readonly url: string
      readonly mount: string
      readonly keyName: string
      readonly namespace: string | null
      readonly ca: string | null
      readonly auth: 'token' | 'approle' | 'jwt' | 'kubernetes'
      readonly authMount: string
      /** Not null unless `auth` is token. */
      readonly role: string | null
      readonly credentialFile: string
    }
  | {
      readonly kind: 'kms'
      readonly url: string
      readonly keyName: string
      readonly ca: string | null
      readonly cert: string | null
      readonly key: string | null
      readonly tokenFile: string | null
    }
  | {
      readonly kind: 'pkcs11'
      readonly module: string
      readonly tokenLabel: string
      /** Hexadecimal. */
      readonly keyId: string
      readonly pinFile: string
    }

/** Absolute paths. */
export interface ListenerTlsFiles {
  readonly cert: string
  readonly key: string
  /** Absent: clients are asked for no certificate. */
  readonly clients?: {
    /** File of the authorities whose certificates count. */
    readonly ca: string
    /** Whether a client without one is turned away. */
    readonly areRequired: boolean
  }
}

/** An origin that webhooks may reach at any address and port. */
export interface AllowedOrigin {
  /** As `URL.origin` spells it. */
  readonly origin: string
  /** Null: all. */
  readonly tenants: readonly string[] | null
  /** The path of a URL is one of these or below one, segment by segment. Null: any path. */
  readonly paths: readonly string[] | null
}

/** What people of a group of the identity provider may do. */
export interface RoleRule {
  readonly group: string
  readonly role: 'auditor' | 'viewer' | 'operator' | 'owner'
  /** Null: all tenants. */
  readonly tenantId: string | null
  readonly mayMakeKeys: boolean
}

export interface OidcSettings {
  readonly issuer: string
  /** For people. */
  readonly name: string
  readonly clientId: string
  /** Absolute paths; null: a public client, and the authorities of Node.js. */
  readonly clientSecretFile: string | null
  readonly ca: string | null
  readonly scopes: readonly string[]
  readonly groupsClaim: string
  readonly nameClaim: string
  /** The first that fits decides. */
  readonly rules: readonly RoleRule[]
  readonly sessionMs: number
  readonly idleMs: number
  /** Whether a log-out continues at the provider. */
  readonly logsOutAtProvider: boolean
}

export interface Config {
  readonly node: {
    readonly id: string
    readonly dataDir: string
    /** Absolute; empty: `blobs` in the data directory. */
    readonly blobDirectories: readonly string[]
    readonly zone: string
    /** Null: the first folder in memory that this machine has. */
    readonly witnessDir: string | null
    readonly sealMetadata: boolean
    readonly raftThread: boolean
    /** 0: the connections of the data listener are on the main thread. */
    readonly edgeThreads: number
    /** Of a chunk; 0: none. */
    readonly directIoFromBytes: number
  }
  readonly cluster: {
    readonly id: string
    readonly members: readonly Member[]
    readonly heartbeatMs: number
    readonly electionTimeoutMs: number
    readonly logKeepEntries: number
    readonly logKeepBytes: number
    readonly logPinBytes: number
    readonly collectAfterMs: number
    readonly promoteAfterMs: number
    /** The largest difference to the clock of the majority; also for the doctor. */
    readonly clockSkewMaxMs: number
  }
  readonly disk: DiskThresholds
  readonly repair: { readonly scrubEveryMs: number }
  readonly listeners: {
    /** host:port each */
    readonly data: string
    readonly admin: string
    readonly peer: string
    /** The URL at which clients reach the data API, without a slash at the end; null: the address of the listener. */
    readonly publicUrl: string | null
    /** The origin of signed URLs, which is not that of the API; null: theirs is the one of `publicUrl`. */
    readonly contentOrigin: string | null
    /** Host names below which the S3 API finds the bucket in the host; lower case, without a port. */
    readonly s3Domains: readonly string[]
    /** Addresses and ranges (CIDR) whose word about the address of a client is believed. */
    readonly trustedProxies: readonly string[]
    /** Connections of these begin with a header of the PROXY protocol, version 2. */
    readonly proxyProtocol: boolean
    /** Whether the console reaches the data API through the admin listener. */
    readonly consoleData: boolean
    /** Whether plain HTTP may be served beyond loopback. */
    readonly dataPlain: boolean
    readonly adminPlain: boolean
  }
  readonly console: {
    /** An origin, at which browsers reach the console. */
    readonly url: string
    /** Null: there is no provider to log in at. */
    readonly oidc: OidcSettings | null
  }
  readonly peerTls: { readonly ca: string; readonly cert: string; readonly key: string } | null
  /** null: plain HTTP. */
  readonly dataTls: ListenerTlsFiles | null
  readonly adminTls: ListenerTlsFiles | null
  readonly security: {
    readonly masterKeyFile: string
    /** What opens the lines of that file. */
    readonly keyProvider: KeyProviderSettings
    /** How long a start waits for the provider. */
    readonly masterKeyWaitMs: number
    readonly masterKeyCheckEveryMs: number
    readonly nativeApiTokenTtlMs: number
    readonly maxPresignTtlMs: number
    readonly maxTemporaryTtlMs: number
    readonly maxRetentionMs: number
    /** What the S3 API reports. */
    readonly s3Region: string
    /** What needs the approval of a second admin token. */
    readonly secondApproval: readonly ('delete_tenant' | 'lower_locks')[]
  }
  readonly content: {
    /** `zstd`: new chunks are compressed if that makes them smaller by enough. */
    readonly compression: 'none' | 'zstd'
    /** 0: chosen by the number of cores. */
    readonly sealingThreads: number
  }
  readonly backup: {
    /** Absolute; null: backups to a directory are refused. */
    readonly directory: string | null
  }
  readonly audit: {
    readonly keepMs: number
    /** 0: no bound. */
    readonly bytesMax: number
    readonly strict: boolean
    readonly spoolBytesMax: number
    readonly unprovedSpoolBytesMax: number
    /** Null: the log is not exported. Absolute paths. */
    readonly export: {
      readonly kind: 'syslog' | 'otlp' | 'webhook'
      readonly url: string
      readonly ca: string | null
      readonly cert: string | null
      readonly key: string | null
      readonly secretFile: string | null
    } | null
  }
  readonly notifications: {
    readonly allowHttp: boolean
    readonly allowPorts: readonly number[]
    readonly allowOrigins: readonly AllowedOrigin[]
  }
  readonly metrics: {
    readonly public: boolean
    readonly perTenant: boolean
    readonly perBucket: boolean
    /** Where charts of longer than an hour come from, and the job under which it scrapes the nodes; null: there are none. */
    readonly prometheus: { readonly url: string; readonly job: string } | null
  }
  readonly logging: {
    readonly level: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent'
    readonly requests: 'problems' | 'all'
    readonly format: 'auto' | 'json' | 'pretty'
  }
  /** Null: nothing is traced. */
  readonly tracing: {
    readonly url: string
    /** 0 to 1. */
    readonly sampledShare: number
  } | null
  readonly limits: {
    /** Bodies up to this size are stored inside the log. */
    readonly inlineBytesMax: number
    readonly objectPutBytesMax: number
    readonly multipartExpiresAfterMs: number
    readonly bucketsPerTenantMax: number
    /** Notification configs of one tenant. */
    readonly configsPerTenantMax: number
    /** Of these, with one origin. */
    readonly configsPerOriginMax: number
    readonly tokenMintPerMinute: number
    readonly tokenMintBurst: number
    readonly adminRequestsPerMinute: number
    readonly adminRequestsBurst: number
    /** Of one address that proves nothing. */
    readonly unprovedRequestsPerMinute: number
    readonly unprovedBurst: number
    /** Of all callers together that have not proved themselves yet. */
    readonly unprovedBodyBytesMax: number
    /** Chunks of 4 MiB that this node seals and stores at the same time. */
    readonly chunkBuffersMax: number
    /** Bytes of chunks that are not whole yet, of all uploads of this node. */
    readonly uploadMemoryBytesMax: number
    /** Heap and buffers together, from which on requests are refused. 0: a share of the memory of the machine or the container. */
    readonly memoryBytesMax: number
    /** Of a body while uploads wait for memory. 0: no limit. */
    readonly contendedBytesPerSecondMin: number
    /** Of each public listener. */
    readonly connectionsMax: number
    /** 0: no limit. */
    readonly bodyBytesPerMinuteMin: number
    readonly requestDurationMaxMs: number
    /** 0: no limit. */
    readonly answerBytesPerMinuteMin: number
  }
  /** Of proved callers on the data plane. */
  readonly callers: {
    readonly tenant: CallerLimits
    readonly accessKey: CallerLimits
    readonly address: CallerLimits
    /** Requests that the node works on at the same time. */
    readonly workAtOnce: number
    /** How long a request waits for its turn before it is refused. */
    readonly queueWaitMs: number
  }
}
