import { type DragEvent, type ReactNode, useId, useState } from 'react';
import css from './form.module.css';

interface DropProps {
  readonly label: string;
  readonly onFiles: (files: readonly File[]) => void;
  /** Takes what is dropped in place of `onFiles`; it can be a folder. */
  readonly onDrop?: (dropped: DataTransfer) => void;
  /** Lets a folder be chosen in place of a file. */
  readonly folder?: boolean;
  readonly accept?: string;
  readonly children: ReactNode;
}

/** A field for a file, on which one can also be dropped. */
export function Drop({ label, onFiles, onDrop, folder, accept, children }: DropProps) {
  const id = useId();
  const [over, setOver] = useState(false);
  const drag = (event: DragEvent) => {
    event.preventDefault();
    setOver(event.type === 'dragover');
    if (event.type !== 'drop') return;
    if (onDrop) onDrop(event.dataTransfer);
    else if (event.dataTransfer.files.length > 0) onFiles([...event.dataTransfer.files]);
  };
  return (
    <div data-over={over} onDragOver={drag} onDragLeave={drag} onDrop={drag}>
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        type="file"
        accept={accept}
        {...(folder && { webkitdirectory: '' })}
        onChange={({ target: { files } }) => files?.length && onFiles([...files])}
      />
      <p>{children}</p>
    </div>
  );
}

/** Several drop fields beside each other. */
export function Drops({ children }: { children: ReactNode }) {
  return <div className={css.drops}>{children}</div>;
}
