/** `holdfast backup verify`: reads everything of a backup back and opens it, without a node. */
import { verifyBackup } from '../../backup/read/verification.ts'
import { EXIT } from '../base/exit.ts'
import { note, printJson, printLine, sizeText } from '../base/printing.ts'
import { type OpenBackupOptions, withBackup } from './open-backup.ts'

export async function verifyBackupCommand(options: OpenBackupOptions): Promise<number> {
  return withBackup(options, async ({ reader, masterKey }) => {
    const { backupId, clusterId, missingCount } = reader.manifest
    const verified = await verifyBackup(reader, masterKey)
    const { rows, chunks, bytes, damageCount, damages } = verified
    if (options.json) printJson({ backupId, clusterId, ...verified })
    else {
      printLine(`${backupId}: ${rows} rows, ${chunks} chunks, ${sizeText(bytes)} read back`)
      for (const { name, what, why } of damages) printLine(`${what}  ${name}  ${why}`)
      if (damageCount > damages.length) note(`and ${damageCount - damages.length} more`)
      if (missingCount > 0) note(`${missingCount} of them were missing when the backup was made`)
    }
    return damageCount === 0 ? EXIT.done : EXIT.failed
  })
}
