/** `holdfast backup reseal`: a copy of a backup whose keys are sealed under another master key, made without a node. */
import { MasterKey } from '../../access/master-key.ts'
import { backupKeyContext } from '../../backup/format/manifest.ts'
import { resealBackup } from '../../backup/reseal/reseal.ts'
import { CommandError, EXIT } from '../base/exit.ts'
import { note, printJson, printLine, sizeText } from '../base/printing.ts'
import { openLocalTarget } from './local-target.ts'
import { type OpenBackupOptions, withBackup } from './open-backup.ts'

export interface ResealOptions extends OpenBackupOptions {
  readonly to: string
  readonly underKey: string
}

export async function resealBackupCommand(options: ResealOptions): Promise<number> {
  return withBackup(options, async ({ reader, masterKey: from }) => {
    const to = await MasterKey.load(options.underKey)
    const { backupId, key } = reader.manifest
    if (to.sealerOf(Buffer.from(key, 'base64'), backupKeyContext(backupId)) !== null)
      throw new CommandError(`Backup ${backupId} is sealed under a key of ${options.underKey} already`, {
        code: 'invalid_argument',
        hint: 'Name a file with another master key: holdfast master-key create makes one.',
        exitCode: EXIT.usage,
      })
    if (options.to === options.from && !from.fingerprints.includes(to.fingerprint))
      throw new CommandError(`${options.config} names no key file that holds ${to.id}`, {
        code: 'invalid_argument',
        hint: 'Write the copy to another target: a backup that the nodes cannot open keeps every prune of this one from removing chunks.',
        exitCode: EXIT.usage,
      })
    const target = openLocalTarget(options.to)
    try {
      const made = await resealBackup({ reader, from, to, target, now: Date.now })
      const { missingCount, sentChunks, sentBytes } = made
      if (options.json)
        printJson({
          backupId: made.backupId,
          of: backupId,
          under: to.id,
          sentChunks,
          sentBytes,
          missingCount,
        })
      else
        printLine(
          `${made.backupId}: backup ${backupId} under ${to.id}, ${made.chunks} chunks, ${sizeText(sentBytes)} copied`,
        )
      if (missingCount > 0) note(`${missingCount} chunks are missing in it, as they were in ${backupId}`)
      return missingCount === 0 ? EXIT.done : EXIT.failed
    } finally {
      await target.close()
    }
  })
}
