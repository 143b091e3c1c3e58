/**
 * Files of what was dropped onto the page, those in folders too, up to a bound.
 */
import { FILES_MAX, type Given } from './uploads.ts'

/** In levels. */
const DEPTH_MAX = 64

/** Has to be called in the event: the browser forgets what was dropped. */
export async function filesOf(transfer: DataTransfer): Promise<readonly Given[]> {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null)
  // Without entries there are no folders.
  if (entries.length === 0) return [...transfer.files].map((file) => ({ file, path: file.name }))
  const found: Given[] = []
  for (const entry of entries) await walk(entry, entry.name, DEPTH_MAX, found)
  return found
}

/** One more than allowed is enough to see that there are too many. */
async function walk(entry: FileSystemEntry, path: string, levels: number, found: Given[]): Promise<void> {
  if (found.length > FILES_MAX || levels === 0) return
  if (entry.isFile) {
    const file = await new Promise<File>((resolve, reject) => {
      ;(entry as FileSystemFileEntry).file(resolve, reject)
    })
    found.push({ file, path })
    return
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader()
  for (;;) {
    const some = await new Promise<readonly FileSystemEntry[]>((resolve, reject) => {
      reader.readEntries(resolve, reject)
    })
    if (some.length === 0) return
    for (const one of some) await walk(one, `${path}/${one.name}`, levels - 1, found)
  }
}

/** Of a field for files; of a folder with its name in front. */
export const filesIn = (files: FileList): readonly Given[] =>
  [...files].map((file) => ({
    file,
    path: file.webkitRelativePath === '' ? file.name : file.webkitRelativePath,
  }))
