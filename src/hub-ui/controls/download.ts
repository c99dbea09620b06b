/** Lets the browser save a text as a file. In a locale without other letters, some browsers only accept an ASCII name. */
export function download(text: string, name: string, type: string): void {
  downloadBlob(new Blob([text], { type }), name);
}

/** Lets the browser save data as a file. */
export function downloadBlob(data: Blob, name: string): void {
  const url = URL.createObjectURL(data);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // By then, the browser has started the download.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
