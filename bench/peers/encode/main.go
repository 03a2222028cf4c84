// encode turns the pods of a server into Kubernetes' protobuf with the official Go types, for servers that have only
// their JSON (`kubelua sim --replay --encodings DIR`).
//
//	encode --server URL DIR
//
// It writes DIR/pods.pb (v1.Pod) and DIR/metadata.pb (metav1.PartialObjectMetadata), in the order of the list: for each
// object its length as a big-endian 32-bit number and the bare message, without the envelope.
package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/json"
)

// Pages keep the memory small: 100,000 pods are about 1 GB of JSON.
const pageSize = "1000"

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "encode:", err)
		os.Exit(1)
	}
}

func run() error {
	server := flag.String("server", "", "URL of the API server")
	flag.Parse()
	if *server == "" || flag.NArg() != 1 {
		return errors.New("usage: encode --server URL DIR")
	}
	dir := flag.Arg(0)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	full, err := create(filepath.Join(dir, "pods.pb"))
	if err != nil {
		return err
	}
	metadata, err := create(filepath.Join(dir, "metadata.pb"))
	if err != nil {
		return err
	}
	count, err := encode(*server, full, metadata)
	if err == nil {
		err = errors.Join(full.close(), metadata.close())
	}
	if err != nil {
		return err
	}
	fmt.Printf("%d pods: %s %d bytes, %s %d bytes\n", count, full.path, full.bytes, metadata.path, metadata.bytes)
	return nil
}

// encode goes through the pages of the list.
func encode(server string, full, metadata *output) (count int, err error) {
	next := ""
	for {
		list, err := page(server, next)
		if err != nil {
			return count, err
		}
		for i := range list.Items {
			pod := &list.Items[i]
			if err := errors.Join(full.add(pod), metadata.add(meta.AsPartialObjectMetadata(pod))); err != nil {
				return count, fmt.Errorf("pod %s/%s: %w", pod.Namespace, pod.Name, err)
			}
		}
		count += len(list.Items)
		if next = list.Continue; next == "" {
			return count, nil
		}
	}
}

// page gets one page. A field that the types do not know is an error: with it lost, clients that read protobuf would
// be measured on less than those that read JSON.
func page(server, next string) (*corev1.PodList, error) {
	address := server + "/api/v1/pods?limit=" + pageSize
	if next != "" {
		address += "&continue=" + url.QueryEscape(next)
	}
	request, err := http.NewRequest(http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s: %.200s", address, answer.Status, text)
	}
	list := &corev1.PodList{}
	unknown, err := json.UnmarshalStrict(text, list)
	if err := errors.Join(append(unknown, err)...); err != nil {
		return nil, fmt.Errorf("%s: %w", address, err)
	}
	return list, nil
}

// output is one file; it has its name only when it is whole.
type output struct {
	path   string
	bytes  int64
	file   *os.File
	buffer *bufio.Writer
}

func create(path string) (*output, error) {
	file, err := os.Create(path + ".part")
	if err != nil {
		return nil, err
	}
	return &output{path: path, file: file, buffer: bufio.NewWriterSize(file, 1<<20)}, nil
}

func (o *output) add(object interface{ Marshal() ([]byte, error) }) error {
	message, err := object.Marshal()
	if err != nil {
		return err
	}
	// A buffered writer keeps its first error for Flush.
	_, _ = o.buffer.Write(binary.BigEndian.AppendUint32(nil, uint32(len(message))))
	_, _ = o.buffer.Write(message)
	o.bytes += int64(4 + len(message))
	return nil
}

func (o *output) close() error {
	if err := errors.Join(o.buffer.Flush(), o.file.Close()); err != nil {
		return err
	}
	return os.Rename(o.file.Name(), o.path)
}
