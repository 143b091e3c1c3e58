/**
 * Every command that can change the replicated metadata, and its reply.
 *
 * Owns: the command union. A command is plain, self-contained data: the gateway makes randomness, sealed keys and digests
 * before it proposes; time and version ids come from the log position in apply.
 * Rule: a new command, or a new meaning of an old one, needs a feature level before a rolling upgrade may use it.
 */
import type { CorrectTimeCommand, TimeReplies } from './time/log-time.ts'
import type { Origin } from './base/origin.ts'
import type { RecountCommand, RecountReplies } from './recount/commands.ts'
import type { BlockerCode, Missing, RefusalCode } from './base/codes.ts'
import type { ApprovalCommand, ApprovalReplies } from './approvals/commands.ts'
import type { QuotaCommand, QuotaReplies } from './usage/commands.ts'
import type { LimitsCommand, LimitsReplies } from './limits/commands.ts'
import type { Basis } from './buckets/basis.ts'
import type { Caller } from './tenants/callers.ts'
import type { TenantCommand, TenantReplies } from './tenants/commands.ts'
import type { AuditCommand, AuditReplies } from './audit/commands.ts'
import type { ChunkId } from './base/record-ids.ts'
import type { NotificationCommand, NotificationReplies } from './events/commands.ts'
import type { ChunkCommand, ChunkReplies } from './chunks/commands.ts'
import type { MasterKeyCommand, MasterKeyReplies } from './master-keys/commands.ts'
import type { ObjectCommand, ObjectReplies } from './objects/commands.ts'
import type { MembershipCommand, MembershipReplies } from './members/commands.ts'
import type { BucketCommand, BucketReplies } from './buckets/commands.ts'
import type { KeyExchangeCommand, KeyExchangeReplies } from './key-exchange/commands.ts'
import type { LifecycleCommand, LifecycleReplies } from './lifecycle/commands.ts'
import type { BackupPlanCommand, BackupPlanReplies } from './backup-plans/commands.ts'
import type { LongOperationCommand, LongOperationReplies } from './long-operations/commands.ts'
import type { RestoringCommand, RestoringReplies } from './restoring/commands.ts'
import type { RemovalCommand, RemovalReplies } from './removal/commands.ts'
import type { BodyCommand, BodyReplies } from './bodies/commands.ts'
import type { SiteCommand, SiteReplies, TenantSiteCommand, TenantSiteReplies } from './sites/commands.ts'
import type { SkipEntryCommand, SkipEntryReplies } from './skipped-entries/skipped-entries.ts'

export type Command =
  | TenantCommand
  | MasterKeyCommand
  | KeyExchangeCommand
  | QuotaCommand
  | LimitsCommand
  | ApprovalCommand
  | BucketCommand
  | LifecycleCommand
  | SiteCommand
  | TenantSiteCommand
  | RemovalCommand
  | RestoringCommand
  | ChunkCommand
  | LongOperationCommand
  | BackupPlanCommand
  | AuditCommand
  | BodyCommand
  | RecountCommand
  | CorrectTimeCommand
  | SkipEntryCommand
  | ObjectCommand
  | NotificationCommand
  | MembershipCommand

/** A command, the request behind it, and the access key that has to be good still; each if there is one. */
export type Proposal = Command & {
  readonly origin?: Origin
  readonly caller?: Caller
  readonly basis?: Basis
}

export type PutCommand = Extract<Command, { type: 'putObject' }>
export type CommandType = Command['type']

/** The reply value of each successful command. */
export interface ReplyValues
  extends TenantReplies,
    MasterKeyReplies,
    KeyExchangeReplies,
    QuotaReplies,
    LimitsReplies,
    ApprovalReplies,
    BucketReplies,
    LifecycleReplies,
    SiteReplies,
    TenantSiteReplies,
    RemovalReplies,
    RestoringReplies,
    ChunkReplies,
    LongOperationReplies,
    BackupPlanReplies,
    AuditReplies,
    BodyReplies,
    RecountReplies,
    TimeReplies,
    SkipEntryReplies,
    ObjectReplies,
    NotificationReplies,
    MembershipReplies {}

export type Reply<T extends CommandType = CommandType> =
  | { readonly ok: true; readonly value: ReplyValues[T] }
  | {
      readonly ok: false
      readonly code: RefusalCode
      readonly message: string
      readonly blocker?: BlockerCode
      readonly missing?: Missing
    }
  /** With a basis only, and without a row of the audit log: it does not hold; authorize again behind a read barrier, and propose without it. */
  | { readonly ok: false; readonly code: 'basis_gone'; readonly message: string }
  /** putObject, putPart and a copy with bytes of its own: these chunks are gone, of another birth, or on too few nodes; upload them again and propose again. */
  | {
      readonly ok: false
      readonly code: 'chunks_gone'
      readonly message: string
      readonly chunks: readonly ChunkId[]
    }
  /** As above: the session of these births is closed, or not open yet; upload again under another session. */
  | {
      readonly ok: false
      readonly code: 'session_ended'
      readonly message: string
      readonly births: readonly string[]
    }
